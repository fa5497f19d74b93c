import { useSearch } from "@tanstack/react-router";

/** Returns the search parameters of the URL as texts; undefined for a parameter that is absent. */
export function useSearchParameters(): Readonly<Record<string, string | undefined>> {
  return useSearch({ strict: false });
}
