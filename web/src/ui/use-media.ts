import { useCallback, useSyncExternalStore } from "react";

const queries = new Map<string, MediaQueryList>();

/**
 * Returns the MediaQueryList of a query. There is one per query, because creating one in each
 * rendering would make the browser compute styles.
 */
function mediaOf(query: string): MediaQueryList {
  const known = queries.get(query);
  if (known !== undefined) return known;
  const made = matchMedia(query);
  queries.set(query, made);
  return made;
}

/** Returns whether a media query matches: "(min-width: 1100px)". */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (notify: () => void) => {
      const media = mediaOf(query);
      media.addEventListener("change", notify);
      return () => media.removeEventListener("change", notify);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => mediaOf(query).matches);
}
