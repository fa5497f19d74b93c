/**
 * What a table or list needs to know of the query that loads its rows. Results of `useList` and of
 * `useQuery` can be passed.
 */
export interface RowsQuery {
  /** True while the first page loads. */
  readonly isPending: boolean;
  /** Undefined or null: no error. */
  readonly error?: unknown;
  readonly refetch?: () => unknown;
  /** True if the server has a next page. Default: false. */
  readonly hasNextPage?: boolean;
  /** True while any page is read or refetched. Default: `isFetchingNextPage`. */
  readonly isFetching?: boolean;
  readonly isFetchingNextPage?: boolean;
  readonly fetchNextPage?: (options?: { readonly cancelRefetch: boolean }) => unknown;
}
