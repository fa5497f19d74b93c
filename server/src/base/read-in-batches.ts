/** Values that are read in batches while they are sent. Only one batch is in memory at a time. */
export interface BatchedValues<T> {
  readonly values: AsyncIterable<T>;
  /** Returns the approximate size of the current batch: its length as JSON, in UTF-16 units. */
  readonly heldBytes: () => number;
}

/**
 * A value and its id. If the value is the last of its batch, the next batch starts after this id.
 */
interface Identified<T> {
  readonly id: string;
  readonly value: T;
}

/** Values that were read at once. */
export interface ReadValues<T> {
  readonly values: readonly Identified<T>[];
  /** Whether no values follow these ones. If there are no values, this or `readTo` is set. */
  readonly isLast: boolean;
  /** The id after which the next values are read; default: that of the last value. */
  readonly readTo?: string | undefined;
}

/**
 * Maximum length of a batch, as JSON in UTF-16 units. A value that is longer is a batch of its own,
 * so everything can be sent if each value fits into the memory budget.
 */
export const maxBatchLength = 1_048_576;

/**
 * Reads values in batches. Each batch is read when all values of the previous one were taken. The
 * first batch is read before the promise resolves, so that an error leads to an error response and
 * not to a truncated file.
 * @param maxValues maximum number of values of a batch.
 * @param read Reads at most `limit` values after an id, from the first one if the id is undefined.
 */
export async function readInBatches<T>(
  maxValues: number,
  read: (after: string | undefined, limit: number) => Promise<ReadValues<T>>,
): Promise<BatchedValues<T>> {
  let limit = maxValues;
  const next = async (after: string | undefined) => {
    const { values: found, isLast: isLastRead, readTo } = await read(after, limit);
    const { count, length } = fitting(found);
    const isCut = count < found.length;
    const isLast = isLastRead && !isCut;
    // If not all values fit into the batch, fewer are read the next time, because each value that
    // does not fit must be read again.
    limit = isCut ? count : Math.min(maxValues, limit * 2);
    const values = found.slice(0, count);
    const end = (isCut ? undefined : readTo) ?? values.at(-1)?.id;
    return { values, length, isLast, end };
  };
  let batch = await next(undefined);
  return {
    values: (async function* () {
      for (;;) {
        for (const { value } of batch.values) yield value;
        if (batch.isLast) return;
        batch = await next(batch.end);
      }
    })(),
    heldBytes: () => batch.length,
  };
}

/** Returns how many of the first values fit into a batch, at least one, and their length. */
function fitting(found: readonly Identified<unknown>[]): { count: number; length: number } {
  let length = 0;
  for (const [count, { value }] of found.entries()) {
    const added = JSON.stringify(value).length;
    if (count > 0 && length + added > maxBatchLength) return { count, length };
    length += added;
  }
  return { count: found.length, length };
}
