/**
 * Bounds the bytes that one process holds in memory, in sum and for each owner (a workspace).
 * Whoever holds bytes counts them in a `ByteHold`. While there is budget that costs additions and
 * comparisons: no promise, no allocation.
 *
 * - A hold that is empty may wait for its first bytes (`enter`). It holds nothing meanwhile, so
 *   waiting cannot deadlock.
 * - A hold that has bytes never waits for more (`grow`): it is told no, and its holder fails and
 *   releases what it has.
 * - An owner gets at most `maxShareBytes`, so that one owner alone never uses up the budget.
 * - Waiting holds are served first in, first out within an owner, and round robin between owners.
 *   One whose bytes do not fit is passed over, so it blocks its own owner only.
 *
 * Rejected: shares that shrink as the budget fills up (Choudhury and Hahne, "Dynamic queue length
 * thresholds", 1998). They would leave something to a third owner when two are greedy, but a second
 * owner would no longer find all that the first leaves.
 */
export class ByteBudget {
  readonly maxBytes: number;
  /** Bytes of one owner, at most. */
  readonly maxShareBytes: number;
  readonly #shares = new Map<string, Share>();
  /** Owners with waiting holds; the first is served next. */
  readonly #queue = new Set<Share>();
  readonly #onServed: (owner: string) => void;
  #usedBytes = 0;
  #paused = false;

  /**
   * @param options.maxBytes 1 or more.
   * @param options.shareMax an owner's share of `maxBytes`, above 0 and at most 1. Default 0.75.
   * @param options.onServed called when an owner's last waiting hold has left the queue.
   */
  constructor({
    maxBytes,
    shareMax = 0.75,
    onServed = () => {},
  }: {
    readonly maxBytes: number;
    readonly shareMax?: number;
    readonly onServed?: (owner: string) => void;
  }) {
    this.maxBytes = maxBytes;
    this.maxShareBytes = Math.floor(maxBytes * shareMax);
    this.#onServed = onServed;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Owners whose holds wait for bytes. */
  get waitingOwners(): string[] {
    return Array.from(this.#queue, ({ owner }) => owner);
  }

  /** While paused nothing more is given out; what is held stays held. */
  set paused(paused: boolean) {
    this.#paused = paused;
    if (!paused) this.#serve();
  }

  /** An empty hold of `owner`. */
  hold(owner: string): ByteHold {
    let share = this.#shares.get(owner);
    if (share === undefined) {
      if (this.#shares.size >= maxIdleShares) this.#forgetIdle();
      share = { owner, maxBytes: this.maxShareBytes, usedBytes: 0, waiting: new Set(), holds: 0 };
      this.#shares.set(owner, share);
    }
    share.holds++;
    return new ByteHold(share, this.#pool);
  }

  /** What holds may do to their budget. */
  readonly #pool: Pool = {
    take: (share, bytes) => {
      if (!this.#fits(share, bytes)) return false;
      share.usedBytes += bytes;
      this.#usedBytes += bytes;
      return true;
    },
    give: (share, bytes) => {
      share.usedBytes -= bytes;
      this.#usedBytes -= bytes;
      if (this.#queue.size > 0) this.#serve();
    },
    wait: (share, waiter) => {
      share.waiting.add(waiter);
      this.#queue.add(share);
    },
    leave: (share, waiter) => {
      if (!share.waiting.delete(waiter)) return;
      this.#unqueueServed(share);
      // The next one may need less.
      this.#serve();
    },
  };

  #fits(share: Share, bytes: number): boolean {
    return (
      !this.#paused &&
      this.#usedBytes + bytes <= this.maxBytes &&
      share.usedBytes + bytes <= share.maxBytes
    );
  }

  #serve(): void {
    for (let served = true; served; ) {
      served = false;
      for (const share of [...this.#queue]) {
        const [first] = share.waiting;
        if (first === undefined || !this.#pool.take(share, first.bytes)) continue;
        served = true;
        share.waiting.delete(first);
        this.#queue.delete(share);
        this.#queue.add(share);
        this.#unqueueServed(share);
        first.served();
      }
    }
  }

  #unqueueServed(share: Share): void {
    if (share.waiting.size === 0 && this.#queue.delete(share)) this.#onServed(share.owner);
  }

  #forgetIdle(): void {
    for (const [owner, { holds }] of this.#shares) if (holds === 0) this.#shares.delete(owner);
  }
}

/**
 * Owners without a hold that are remembered, so that a busy owner does not come and go with each of
 * its holds.
 */
const maxIdleShares = 1_000;

interface Share {
  readonly owner: string;
  readonly maxBytes: number;
  usedBytes: number;
  /** Holds that are not released. */
  holds: number;
  readonly waiting: Set<Waiter>;
}

interface Waiter {
  readonly bytes: number;
  /** The bytes have been taken for it. */
  readonly served: () => void;
}

interface Pool {
  take(share: Share, bytes: number): boolean;
  give(share: Share, bytes: number): void;
  wait(share: Share, waiter: Waiter): void;
  leave(share: Share, waiter: Waiter): void;
}

/** The bytes of one holder. A class, since each run and each large body has one. */
export class ByteHold {
  readonly #share: Share;
  readonly #pool: Pool;
  /** Never more than `#takenBytes`. */
  #heldBytes = 0;
  /** Taken from the budget. */
  #takenBytes = 0;
  /** Of those, what `enter` took. */
  #enteredBytes = 0;
  #released = false;

  /** Use `ByteBudget.hold`. */
  constructor(share: Share, pool: Pool) {
    this.#share = share;
    this.#pool = pool;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Bytes that all holds of this owner may take together. */
  get maxBytes(): number {
    return this.#share.maxBytes;
  }

  /**
   * Takes `bytes` before anything is held. They stay taken until `release`, and what `grow` adds
   * comes out of them first.
   *
   * @param bytes at most `maxShareBytes`: more would wait for ever.
   * @returns undefined if they were taken at once, else a promise that resolves when they are.
   * @throws the reason of `signal`, as rejection, when it aborts first.
   */
  enter(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    const share = this.#share;
    // Whoever comes later does not overtake its own owner's waiting holds.
    if (share.waiting.size === 0 && this.#pool.take(share, bytes)) {
      this.#entered(bytes);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#pool.leave(share, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        bytes,
        served: () => {
          signal.removeEventListener("abort", leave);
          this.#entered(bytes);
          resolve();
        },
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      this.#pool.wait(share, waiter);
    });
  }

  /**
   * Holds `bytes` more. @returns false, and changes nothing, if the owner or the process would hold
   * too much.
   */
  grow(bytes: number): boolean {
    const heldBytes = this.#heldBytes + bytes;
    const missing = heldBytes - this.#takenBytes;
    if (missing > 0) {
      if (this.#released || !this.#pool.take(this.#share, missing)) return false;
      this.#takenBytes = heldBytes;
    }
    this.#heldBytes = heldBytes;
    return true;
  }

  /** Holds `bytes` less; what `enter` took stays taken. */
  shrink(bytes: number): void {
    this.#heldBytes -= bytes;
    const spareBytes = this.#takenBytes - Math.max(this.#heldBytes, this.#enteredBytes);
    if (spareBytes <= 0) return;
    this.#takenBytes -= spareBytes;
    this.#pool.give(this.#share, spareBytes);
  }

  #entered(bytes: number): void {
    this.#enteredBytes = bytes;
    this.#takenBytes = bytes;
  }

  /** Gives all bytes back, once; further calls do nothing, and `grow` answers no. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#share.holds--;
    const takenBytes = this.#takenBytes;
    this.#heldBytes = 0;
    this.#takenBytes = 0;
    if (takenBytes > 0) this.#pool.give(this.#share, takenBytes);
  }
}
