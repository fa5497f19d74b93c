import type { Batcher } from "./batcher.ts";

/**
 * Sends rows above `maxSmallBytes` through a gatherer of their own. One of them may take seconds to
 * write, and all others would wait for it, and for all of its kind before it.
 */
export function apartIfLarge<Row, Answer>({
  bytes,
  maxSmallBytes,
  small,
  large,
}: {
  readonly bytes: (row: Row) => number;
  readonly maxSmallBytes: number;
  readonly small: Batcher<Row, Answer>;
  readonly large: Batcher<Row, Answer>;
}): Batcher<Row, Answer> {
  return {
    submit(row, options) {
      const size = bytes(row);
      return (size > maxSmallBytes ? large : small).submit(row, { ...options, bytes: size });
    },
    get pending() {
      return small.pending + large.pending;
    },
    get stalled() {
      return small.stalled || large.stalled;
    },
  };
}
