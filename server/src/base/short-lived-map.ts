/**
 * A map for values that are added and deleted thousands of times a second. V8 replaces a `Map`'s
 * table after a number of deletions, and the old table points to the new one. Once one table has
 * been promoted to the old generation, all later tables and their values are promoted too and stay
 * until a full collection. Here a deletion also empties the cell, so that only empty cells are kept
 * alive.
 */
export class ShortLivedMap<Value> {
  readonly #cells = new Map<string, { value: Value | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: string): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: string): boolean {
    return this.#cells.has(key);
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#cells.set(key, { value });
  }

  delete(key: string): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.#cells.delete(key);
  }

  /** Iterates over the current values, skipping those that are deleted during the iteration. */
  *values(): Iterable<Value> {
    for (const { value } of [...this.#cells.values()]) if (value !== undefined) yield value;
  }
}
