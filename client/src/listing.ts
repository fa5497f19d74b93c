/** Some of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** What to ask for `after`, to go on behind this page; null: this is the last. */
  readonly next: string | null;
}

/** A list that is read as far as it is used: `for await` goes through all of it, page by page. Nothing is sent before that. */
export interface Listing<T> extends AsyncIterable<T> {
  /** The first page alone. */
  page(): Promise<Page<T>>;
}

/** @param read reads one page, the first one if `after` is undefined. */
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
