/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Cursor of the next page, for the query parameter `after`; null: this is the last page. */
  readonly next: string | null;
}

/** A lazy list: `for await` requests page after page, as far as the loop reads. */
export interface Listing<T> extends AsyncIterable<T> {
  /** Requests the first page only. */
  page(): Promise<Page<T>>;
}

/** @param read requests one page; the first one if `after` is undefined */
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
