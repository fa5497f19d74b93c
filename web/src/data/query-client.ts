import { QueryClient } from "@tanstack/react-query";

/**
 * Creates the cache of all data that the page has read. Queries have no retries of their own,
 * because the API client retries.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // Calls are made even if the browser reports that it is offline, because the server can run
      // on the same machine.
      queries: { retry: false, staleTime: 30_000, networkMode: "always" },
      // Finished mutations are deleted after 1 s: nothing reads them, and they can contain secrets,
      // such as passwords and new keys. With 0, a mutation that is still running after its screen
      // was closed would start timers of 0 ms one after the other.
      mutations: { retry: false, networkMode: "always", gcTime: 1_000 },
    },
  });
}
