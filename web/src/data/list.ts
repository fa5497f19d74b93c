import type { CallOptions, Listing, Page } from "@beckon/client";
import {
  hashKey,
  type InfiniteData,
  infiniteQueryOptions,
  type Query,
  type QueryClient,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo } from "react";
import { isAtTop } from "../ui/index.ts";

const pageSize = 50;

/** The parameters of a list that select a page. */
export interface PageQuery {
  readonly limit: number;
  readonly after?: string;
}

/**
 * Returns the options of a list that is read page by page.
 * @param list calls the API, for example
 *   `(page, options) => client.runs.list({ ...filter, ...page }, options)`
 */
export function listOptions<Row>(
  queryKey: QueryKey,
  list: (page: PageQuery, options: CallOptions) => Pick<Listing<Row>, "page">,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }): Promise<Page<Row>> =>
      list(
        { limit: pageSize, ...(pageParam === null ? {} : { after: pageParam }) },
        { signal },
      ).page(),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
}

/**
 * Options of a list whose new rows wait while the page is scrolled down. When the tab is shown
 * again, TanStack Query refetches all pages, which would insert the new rows. Such a list needs no
 * refetch to have them, because live events or polls announce them, also after the tab was hidden.
 */
export const heldWhileScrolled = { refetchOnWindowFocus: () => isAtTop() };

/** Returns the first `max` rows of a list, which can be on several pages. */
export async function firstRows<Row>(list: AsyncIterable<Row>, max: number): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) if (rows.push(row) === max) break;
  return rows;
}

/**
 * Refetches the first page of the lists whose keys begin with `queryKey`, or only of the list with
 * exactly this key if `exact` is true. The other pages are removed, because TanStack Query would
 * refetch each of them. They are read again when a person scrolls to them. Resolves when the pages
 * were read. A read in progress is cancelled.
 */
export function refetchFirstPage(
  queryClient: QueryClient,
  filters: { readonly queryKey: QueryKey; readonly exact?: boolean },
): Promise<void> {
  queryClient.setQueriesData<InfiniteData<unknown>>(filters, (data) =>
    data === undefined || data.pages.length < 2
      ? data
      : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
  );
  return queryClient.invalidateQueries(filters);
}

/**
 * Returns the list with its rows as they are in `read`, which was read later. Rows that only `read`
 * has are not inserted. Rows that `read` lacks although it covers them were deleted or no longer
 * match the filters, so they are removed. Ids must be ordered by the time of creation, and the list
 * must start with the newest row.
 * @param read rows that match the filters; may be shorter than the list
 * @param below id of the last row before `read`; undefined if `read` begins with the newest row
 */
export function updateKnown<Row extends { readonly id: string }>(
  list: InfiniteData<Page<Row>, string | null>,
  read: Page<Row>,
  below?: string,
): InfiniteData<Page<Row>, string | null> {
  const rows = new Map(read.data.map((row) => [row.id, row]));
  const last = read.data.at(-1)?.id;
  const isCovered = ({ id }: Row) =>
    (below === undefined || id < below) &&
    (read.next === null || (last !== undefined && id >= last));
  const pages = list.pages.map((page) => ({
    ...page,
    data: page.data.flatMap((row) => rows.get(row.id) ?? (isCovered(row) ? [] : row)),
  }));
  return { ...list, pages };
}

/**
 * Calls `read` when a static list is shown again, and when its data is invalidated. TanStack Query
 * does not refetch such a list: it would read all pages, and insert new rows.
 */
export function useInvalidation(queryKey: QueryKey, read: () => void): void {
  const queryClient = useQueryClient();
  const readIfStatic = useEffectEvent((query: Query | undefined) => {
    if (!query?.isStatic()) return;
    // Only the first invalidation causes an event, until the data is valid again.
    query.setState({ isInvalidated: false });
    read();
  });
  const hash = hashKey(queryKey);
  useEffect(() => {
    const cache = queryClient.getQueryCache();
    readIfStatic(cache.get(hash));
    return cache.subscribe(({ type, query, ...event }) => {
      if (type !== "updated" || query.queryHash !== hash) return;
      if ("action" in event && event.action.type === "invalidate") readIfStatic(query);
    });
  }, [queryClient, hash]);
}

/**
 * Returns the query of a list with the rows of all pages read so far. A page of a filtered list can
 * be empty although more pages follow. The next page is then read automatically.
 */
export function useList<Row>(options: ReturnType<typeof listOptions<Row>>) {
  const query = useInfiniteQuery(options);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const isSearching = hasNextPage && data?.pages.at(-1)?.data.length === 0;
  useEffect(() => {
    if (isSearching && !isFetching && !isError) void fetchNextPage();
  }, [isSearching, isFetching, isError, fetchNextPage]);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  return {
    ...query,
    rows,
    /** True while the next page is read because no row of the last page matched the filter. */
    isSearching,
  };
}
