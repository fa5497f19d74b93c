import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isUnauthorized } from "./errors.ts";

/**
 * Creates the cache of all data that the page has read. Queries have no retries of their own,
 * because the API client retries.
 * @param onUnauthorized called when any call is rejected with 401
 */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (thrown: unknown) => {
    if (isUnauthorized(thrown)) onUnauthorized();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // Calls are made even if the browser reports that it is offline, because the server can run
      // on the same machine.
      queries: { retry: false, staleTime: 30_000, networkMode: "always" },
      // The cache of mutations is not used, and what it holds can contain secrets: passwords, and
      // new keys, tokens and links. With 0, a mutation that outlives its screen would set timers
      // without a pause.
      mutations: { retry: false, networkMode: "always", gcTime: 1_000 },
    },
  });
}
