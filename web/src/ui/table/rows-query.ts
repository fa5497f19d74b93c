/**
 * What a table or list needs to know of the query that loads its rows. Results of `useList` and of
 * `useQuery` can be passed.
 */
export interface RowsQuery {
  /** True while the first page loads. */
  readonly isPending: boolean;
  /** Undefined or null: no error. */
  readonly error?: unknown;
  /** True if `error` is that of reading a further page. Default: false. */
  readonly isFetchNextPageError?: boolean;
  /** Unix time in ms at which the rows were read last. Default: unknown. */
  readonly dataUpdatedAt?: number;
  readonly refetch?: () => unknown;
  /** True if the server has a next page. Default: false. */
  readonly hasNextPage?: boolean;
  /** True while any page is read or refetched. Default: `isFetchingNextPage`. */
  readonly isFetching?: boolean;
  readonly isFetchingNextPage?: boolean;
  readonly fetchNextPage?: (options?: { readonly cancelRefetch: boolean }) => unknown;
}

/** Reads again what could not be read: the next page, or the rows that were read before. */
export function retry({ isFetchNextPageError, fetchNextPage, refetch }: RowsQuery): unknown {
  // `refetch` would read all pages again.
  return isFetchNextPageError ? fetchNextPage?.({ cancelRefetch: false }) : refetch?.();
}
