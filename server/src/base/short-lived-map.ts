/**
 * A map for values that are added and deleted thousands of times a second. V8 replaces the hash
 * table of a `Map` after a number of deletions, and the old table keeps a reference to the new one.
 * Once one table has been promoted to the old generation, all later tables are promoted too and
 * stay in memory, with their values, until a full collection. In this class each value is in a cell
 * of its own. A deletion empties the cell, so only empty cells stay in memory.
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
