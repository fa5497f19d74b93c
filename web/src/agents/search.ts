import { useSearch } from "@tanstack/react-router";

/** Returns the search parameters of the URL, as texts. */
export function useSearchParameters(): Readonly<Record<string, string | undefined>> {
  return useSearch({ strict: false });
}
