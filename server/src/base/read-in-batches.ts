/** Values that are read in batches while they are sent. Only one batch is in memory at a time. */
export interface BatchedValues<T> {
  readonly values: AsyncIterable<T>;
  /** Returns the approximate size of the current batch: its length as JSON, in UTF-16 units. */
  readonly heldBytes: () => number;
}

interface Batch<T> {
  readonly values: readonly T[];
  /** The id after which the next batch starts; undefined if this is the last batch. */
  readonly last: string | undefined;
}

/**
 * Reads values in batches, each one when the values of the previous one were taken. The first batch
 * is read before the promise resolves, so that an error leads to an error response and not to a
 * truncated file.
 * @param read Reads the batch after an id; the first batch if the id is undefined.
 */
export async function readInBatches<T>(
  read: (after: string | undefined) => Promise<Batch<T>>,
): Promise<BatchedValues<T>> {
  let batch = await read(undefined);
  let heldBytes = jsonLength(batch.values);
  return {
    values: (async function* () {
      for (;;) {
        yield* batch.values;
        if (batch.last === undefined) return;
        batch = await read(batch.last);
        heldBytes = jsonLength(batch.values);
      }
    })(),
    heldBytes: () => heldBytes,
  };
}

/** Adds up the lengths of the values, because the JSON text of a whole batch can be large. */
function jsonLength(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (JSON.stringify(value)?.length ?? 0), 0);
}
