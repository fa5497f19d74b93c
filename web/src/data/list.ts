import type { CallOptions, Listing, Page } from "@beckon/client";
import {
  focusManager,
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

/** Number of rows of each page that a list reads. */
export const pageSize = 50;
/** Number of rows that an update of a list reads at once: the API's maximum. */
export const maxUpdated = 200;

/** The loaded pages of a list. */
export type RowPages<Row> = InfiniteData<Page<Row>, string | null>;

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
  const readPage = (page: PageQuery, options: CallOptions = {}): Promise<Page<Row>> =>
    list(page, options).page();
  const options = infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      readPage(
        { limit: pageSize, ...(pageParam === null ? {} : { after: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  return { ...options, readPage };
}

/**
 * Returns whether `read` has a row that is newer than all rows of the list. Ids must be ordered by
 * the time of creation, and `read` must start with its newest row.
 */
export function hasNewRows<Row extends { readonly id: string }>(
  list: RowPages<Row> | undefined,
  { data: [newest] }: Page<Row>,
): boolean {
  const rows = list?.pages.flatMap(({ data }) => data);
  return newest !== undefined && !rows?.some(({ id }) => id >= newest.id);
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
  list: RowPages<Row>,
  read: Page<Row>,
  below?: string,
): RowPages<Row> {
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

/** Resolves when no read of the list is in progress. */
export async function whenFetched(queryClient: QueryClient, queryKey: QueryKey): Promise<void> {
  const query = queryClient.getQueryCache().find({ queryKey });
  // A query that was removed, for example by a sign-out, is "fetching" for ever, without a promise.
  while (query?.promise !== undefined) await query.promise.catch(() => {});
}

interface RowsUpdate<Row> {
  /** Reads the rows that follow. If undefined, only the rows that `head` covers are updated. */
  readonly readPage: ((page: PageQuery) => Promise<Page<Row>>) | undefined;
  /** Returns whether the update continues. */
  readonly isCurrent: () => boolean;
}

/**
 * Updates the rows of a list that are shown, the newest ones first (see `updateKnown`).
 * @param head the newest rows
 */
export async function updateRows<Row extends { readonly id: string }>(
  queryClient: QueryClient,
  queryKey: QueryKey,
  head: Page<Row>,
  { readPage, isCurrent }: RowsUpdate<Row>,
): Promise<void> {
  let read = head;
  let below: string | undefined;
  const pages = () => queryClient.getQueryData<RowPages<Row>>(queryKey)?.pages ?? [];
  // As many reads as the list has pages, and a few for new rows before its rows.
  for (let left = pages().length + 5; ; left--) {
    // The response to a request for the next page would restore the rows as they were before.
    await whenFetched(queryClient, queryKey);
    if (!isCurrent()) return;
    queryClient.setQueryData<RowPages<Row>>(
      queryKey,
      (list) => list && updateKnown(list, read, below),
    );
    below = read.data.at(-1)?.id ?? below;
    const last = pages()
      .flatMap(({ data }) => data)
      .at(-1);
    const isDone = last === undefined || (below !== undefined && last.id >= below);
    if (readPage === undefined || isDone || read.next === null || left === 0) return;
    read = await readPage({ limit: maxUpdated, after: read.next });
  }
}

/**
 * Calls `read` when a static list or its browser tab is shown again, and when its data is
 * invalidated. TanStack Query does not refetch such a list: it would read all pages, and insert new
 * rows.
 */
export function useInvalidation(queryKey: QueryKey, read: () => void): void {
  const queryClient = useQueryClient();
  const readIfStatic = useEffectEvent((query: Query | undefined) => {
    if (!query?.isStatic()) return;
    markValid(query);
    read();
  });
  const hash = hashKey(queryKey);
  useEffect(() => {
    const cache = queryClient.getQueryCache();
    readIfStatic(cache.get(hash));
    const unsubscribe = cache.subscribe((event) => {
      if (event.type !== "updated" || event.query.queryHash !== hash) return;
      if (event.action.type === "invalidate") readIfStatic(event.query);
      if (event.action.type === "error") markValid(event.query);
    });
    // There is no event when another person or the retention deletes rows.
    const ignoreFocus = focusManager.subscribe((isShown) => {
      if (isShown) readIfStatic(cache.get(hash));
    });
    return () => {
      unsubscribe();
      ignoreFocus();
    };
  }, [queryClient, hash]);
}

/**
 * Makes the next invalidation cause an event: it does not if the query has been invalidated before,
 * or if its last fetch failed.
 */
const markValid = (query: Query) => query.setState({ isInvalidated: false });

/**
 * Returns the query of a list with the rows of all pages read so far. A page of a filtered list can
 * be empty although more pages follow. The next page is then read automatically.
 */
export function useList<Row>(options: ReturnType<typeof listOptions<Row>>) {
  const queryClient = useQueryClient();
  const query = useInfiniteQuery(options);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const { queryKey } = options;
  const isSearching = hasNextPage && data?.pages.at(-1)?.data.length === 0;
  useEffect(() => {
    if (isSearching && !isFetching && !isError) void fetchNextPage();
  }, [isSearching, isFetching, isError, fetchNextPage]);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  /**
   * Reads the list again. A static list is updated as `useInvalidation` describes: `query.refetch`
   * would read all its pages, and insert new rows.
   */
  const refetch = () =>
    data !== undefined && queryClient.getQueryCache().find({ queryKey })?.isStatic()
      ? queryClient.invalidateQueries({ queryKey, exact: true, refetchType: "none" })
      : query.refetch();
  return {
    ...query,
    refetch,
    rows,
    /** True while the next page is read because no row of the last page matched the filter. */
    isSearching,
  };
}
