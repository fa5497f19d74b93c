/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Cursor of the next page, for the query parameter `after`; null if this is the last page. */
  readonly next: string | null;
}

/**
 * A list whose pages are requested when they are needed: `for await` requests the next page when
 * the loop has read all items of the current one.
 */
export interface Listing<T> extends AsyncIterable<T> {
  /** Requests the first page only. */
  page(): Promise<Page<T>>;
}

/**
 * Creates a listing.
 * @param read requests one page; the first one if `after` is undefined
 */
export function listing<T>(read: (after: string | undefined) => Promise<Page<T>>): Listing<T> {
  return {
    page: () => read(undefined),
    async *[Symbol.asyncIterator]() {
      for (let after: string | null | undefined; after !== null; ) {
        const page: Page<T> = await read(after);
        yield* page.data;
        after = page.next;
      }
    },
  };
}
