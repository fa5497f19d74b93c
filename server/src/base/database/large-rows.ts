import type { Batcher } from "./batcher.ts";

/**
 * Returns a batcher that passes rows above `maxSmallBytes` to `large` and other rows to `small`. A
 * large row can take seconds to write, and small rows behind it would wait.
 */
export function separateLargeRows<Row, Answer>({
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
