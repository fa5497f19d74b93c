import type { InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Options of a list whose new rows wait while the page is scrolled down. TanStack Query does not
 * refetch such a list: it would read all pages, and insert the new rows. `useRowUpdates` does what
 * is needed instead. Live events or polls announce new rows, also after the tab was hidden.
 */
export const heldWhileScrolled = { staleTime: "static" } as const;

/**
 * Refetches the first page of the lists whose keys begin with `queryKey`, or only of the list with
 * exactly this key if `exact` is true. The other pages are removed, because TanStack Query would
 * refetch each of them. They are read again when a person scrolls to them. Resolves when the pages
 * were read. A read in progress is cancelled.
 */
export function refetchFirstPage(
  queryClient: QueryClient,
  filters: { readonly queryKey: QueryKey; readonly exact?: boolean },
): Promise<unknown> {
  queryClient.setQueriesData<InfiniteData<unknown>>(filters, (data) =>
    data === undefined || data.pages.length < 2
      ? data
      : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  // Lists that are static would not be refetched by `invalidateQueries`.
  const shown = queryClient.getQueryCache().findAll({ ...filters, type: "active" });
  const reads = shown.map((query) => query.fetch(undefined, { cancelRefetch: true }));
  return Promise.allSettled(reads);
}
