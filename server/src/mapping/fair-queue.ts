/**
 * Queue of several tenants that share one child process, based on start-time fair queueing (Goyal,
 * Vin and Cheng, 1996): the tenant that used the least time is served first. A tenant with slow
 * items therefore delays its own items and not those of other tenants.
 */
export class FairQueue<T> {
  /** Tenants that have items, or that used more time than `#clockMs`. */
  readonly #tenants = new Map<string, { items: T[]; usedMs: number }>();
  /** Items that were put back. They are taken before all others, because they already waited. */
  #returned: { tenant: string; item: T }[] = [];
  /**
   * The highest `usedMs` that a tenant had when one of its items was taken. New tenants start with
   * this value. If they started with 0, only their items would be taken until they had used as much
   * time as the others.
   */
  #clockMs = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns how many items of the tenant wait, including those that were put back. */
  sizeOf(tenant: string): number {
    const returned = this.#returned.filter((each) => each.tenant === tenant).length;
    return returned + (this.#tenants.get(tenant)?.items.length ?? 0);
  }

  add(tenant: string, item: T): void {
    this.#of(tenant).items.push(item);
    this.#size += 1;
  }

  /** Puts items back that were taken, in front of all others. */
  putBack(items: readonly { tenant: string; item: T }[]): void {
    this.#returned = [...items, ...this.#returned];
    this.#size += items.length;
  }

  /** Takes the next item; undefined if the queue is empty. */
  take(): { tenant: string; item: T } | undefined {
    const returned = this.#returned.shift();
    if (returned !== undefined) {
      this.#size -= 1;
      return returned;
    }
    let next: [string, { items: T[]; usedMs: number }] | undefined;
    for (const entry of this.#tenants)
      if (entry[1].items.length > 0 && (next === undefined || entry[1].usedMs < next[1].usedMs))
        next = entry;
    const item = next?.[1].items.shift();
    if (next === undefined || item === undefined) return undefined;
    this.#size -= 1;
    this.#clockMs = Math.max(this.#clockMs, next[1].usedMs);
    this.#forgetIdle();
    return { tenant: next[0], item };
  }

  /** Adds time that an item of the tenant used, in milliseconds. */
  charge(tenant: string, ms: number): void {
    this.#of(tenant).usedMs += ms;
    this.#forgetIdle();
  }

  /** Removes and returns the items that `isDue` selects. */
  remove(isDue: (item: T) => boolean): T[] {
    const removed: T[] = [];
    for (const tenant of this.#tenants.values()) {
      removed.push(...tenant.items.filter(isDue));
      tenant.items = tenant.items.filter((item) => !isDue(item));
    }
    removed.push(...this.#returned.map(({ item }) => item).filter(isDue));
    this.#returned = this.#returned.filter(({ item }) => !isDue(item));
    this.#size -= removed.length;
    return removed;
  }

  #of(tenant: string): { items: T[]; usedMs: number } {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const created = { items: [], usedMs: this.#clockMs };
    this.#tenants.set(tenant, created);
    return created;
  }

  /**
   * Removes tenants that have no items and have used at most `#clockMs`. When they add an item
   * again, they start at `#clockMs`.
   */
  #forgetIdle(): void {
    for (const [name, { items, usedMs }] of this.#tenants)
      if (items.length === 0 && usedMs <= this.#clockMs) this.#tenants.delete(name);
  }
}
