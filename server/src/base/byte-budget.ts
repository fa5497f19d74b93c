/**
 * Limits the bytes that one process holds in memory: in total, and per owner. An owner is a
 * workspace. Code that keeps bytes in memory counts them in a `ByteHold`. While enough bytes are
 * available, counting takes only additions and comparisons and creates no promise or object.
 *
 * - `enter` lets an empty hold wait for its first bytes. A waiting hold has no bytes, so waiting
 *   cannot deadlock.
 * - A hold that has bytes never waits for more: `grow` returns false, and the caller fails and
 *   releases the hold.
 * - An owner gets at most `maxShareBytes`, so one owner alone cannot use up the budget.
 * - The waiting holds of one owner are served first in, first out, and owners are served round
 *   robin. If the next hold of an owner does not fit, the owner is skipped, so a large hold delays
 *   only holds of the same owner.
 *
 * Rejected: reducing every owner's share as the budget fills up (Choudhury and Hahne, "Dynamic
 * queue length thresholds", 1998). Its advantage is that some of the budget always stays free for a
 * further owner. Its disadvantage is that with only two owners this part stays unused, even if one
 * of them needs it.
 */
export class ByteBudget {
  readonly maxBytes: number;
  /** Maximum bytes of one owner. */
  readonly maxShareBytes: number;
  readonly #shares = new Map<string, Share>();
  /** Shares of the owners whose holds wait for bytes. The first share is served next. */
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

  /** Number of holds that wait for their first bytes. */
  get waitingHolds(): number {
    let holds = 0;
    for (const { waiting } of this.#queue) holds += waiting.size;
    return holds;
  }

  /** Returns the owners that have waiting holds. */
  get waitingOwners(): string[] {
    return Array.from(this.#queue, ({ owner }) => owner);
  }

  /**
   * While true, no hold takes more bytes from the budget. Holds keep the bytes that they have
   * taken.
   */
  set paused(paused: boolean) {
    this.#paused = paused;
    if (!paused) this.#serve();
  }

  /** Returns a new, empty hold of `owner`. */
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

  /** The operations of this budget that its holds call. */
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
      // The next waiting hold may need fewer bytes than the one that has left the queue, and fit
      // now.
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
 * When `#shares` has this many owners and another owner is added, all owners without a hold are
 * removed from `#shares`. Until then they stay, so that a busy owner's share is not created again
 * for each hold.
 */
const maxIdleShares = 1_000;

interface Share {
  readonly owner: string;
  readonly maxBytes: number;
  usedBytes: number;
  /** Number of holds that are not released. */
  holds: number;
  readonly waiting: Set<Waiter>;
}

interface Waiter {
  readonly bytes: number;
  /** Called after the bytes have been taken for this waiter. */
  readonly served: () => void;
}

interface Pool {
  take(share: Share, bytes: number): boolean;
  give(share: Share, bytes: number): void;
  wait(share: Share, waiter: Waiter): void;
  leave(share: Share, waiter: Waiter): void;
}

/**
 * Counts the bytes that an owner keeps in memory for one purpose, for example for one run. This is
 * a class and not an object with closures, because there are many holds and an instance costs less
 * garbage collection (docs/decisions/0012-what-is-brief-dies-young.md).
 */
export class ByteHold {
  readonly #share: Share;
  readonly #pool: Pool;
  /** Bytes that the caller has added with `grow` and not removed; at most `#takenBytes`. */
  #heldBytes = 0;
  /** Bytes taken from the budget. */
  #takenBytes = 0;
  /** The part of `#takenBytes` that `enter` took. */
  #enteredBytes = 0;
  #released = false;

  /** Called only by `ByteBudget.hold`. */
  constructor(share: Share, pool: Pool) {
    this.#share = share;
    this.#pool = pool;
  }

  get owner(): string {
    return this.#share.owner;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Maximum bytes of all holds of this owner together. */
  get maxBytes(): number {
    return this.#share.maxBytes;
  }

  /**
   * Reserves `bytes` for this hold, which must be empty. The bytes stay reserved until `release`,
   * and `grow` uses them before it takes others from the budget.
   *
   * @param bytes at most `maxBytes`: a hold that asks for more would wait forever.
   * @returns undefined if the bytes were reserved at once, else a promise that resolves when they
   *   are reserved.
   * @throws the reason of `signal`, as a rejection, if the signal aborts first.
   */
  enter(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    const share = this.#share;
    // A new hold does not overtake waiting holds of the same owner.
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
   * Adds `bytes` to the hold: first from the bytes that `enter` reserved, then from the budget.
   * @returns false, and changes nothing, if bytes from the budget are needed but the owner or the
   *   process would exceed its limit, the budget is paused, or the hold is released.
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

  /** Removes `bytes` from the hold. Bytes that `enter` reserved stay reserved. */
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

  /** Releases all bytes. Further calls do nothing. */
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

const neverAborted = new AbortController().signal;

/**
 * Returns a function that calls `act` when it is the turn of `owner`, and returns its result. At
 * most `max` calls are in progress at a time, and `shareMax` of them for one owner. Owners take
 * turns as in `ByteBudget`. If `signal` aborts before the turn, the function rejects with its
 * reason.
 */
export function createTurns({
  max,
  shareMax,
}: {
  readonly max: number;
  readonly shareMax: number;
}) {
  // The budget counts each call as one byte.
  const budget = new ByteBudget({ maxBytes: max, shareMax });
  return async <T>(
    owner: string,
    act: () => Promise<T>,
    signal: AbortSignal = neverAborted,
  ): Promise<T> => {
    const turn = budget.hold(owner);
    try {
      await turn.enter(1, signal);
      return await act();
    } finally {
      turn.release();
    }
  };
}
