/**
 * A map of values that come and go by the thousand a second. V8 replaces the table of a `Map` every so many deletions, and the old table points
 * to the new one: once a single table has reached the old generation, dead or not, all later ones follow it there with the values that they
 * held, and wait for a full collection. What is deleted here leaves an empty cell in them, not the value and all that hangs from it.
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

  /** Of the values there are now, those that are still there when their turn comes. */
  *values(): Iterable<Value> {
    for (const { value } of [...this.#cells.values()]) if (value !== undefined) yield value;
  }
}
