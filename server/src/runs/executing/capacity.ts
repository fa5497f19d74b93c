import type { HeapGuard } from "../../base/heap-guard.ts";

/** Counts the runs that this process executes, and decides whether it accepts more. */
export class Capacity {
  /** Maximum number of runs that this process executes at the same time. */
  readonly max: number;
  readonly #heap: Pick<HeapGuard, "isFull">;
  #inUse = 0;
  #queueEmpty = false;
  /** True at first, because runs of processes that died before this one started may be waiting. */
  #hasAbandoned = true;
  #deaths = 0;
  #open: boolean;
  #announced = false;
  #draining = false;

  constructor({
    max,
    executes,
    heap,
  }: { max: number; executes: boolean; heap: Pick<HeapGuard, "isFull"> }) {
    this.max = max;
    this.#open = executes;
    this.#heap = heap;
  }

  /**
   * Whether this process accepts runs. False for a process with the role `api`, and after `drain`
   * was called.
   */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether this process drains or will drain soon. If so, it reports that it is not ready. */
  get isDrainAnnounced(): boolean {
    return this.#announced;
  }

  /** Whether this process is stopping and accepts no more runs. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /**
   * Whether the queue was empty according to the last call of `foundQueue`, no run was queued since
   * then while this process had no free capacity, and no abandoned runs wait. Otherwise a new run
   * must be queued, so that it does not overtake older runs.
   */
  get queueEmpty(): boolean {
    return this.#queueEmpty && !this.#hasAbandoned;
  }

  /**
   * Whether runs of dead processes may wait for capacity of this process. They get it before queued
   * runs.
   */
  get hasAbandoned(): boolean {
    return this.#hasAbandoned;
  }

  /** Number of runs that this process can accept now. */
  get free(): number {
    return this.#open && !this.#heap.isFull ? Math.max(0, this.max - this.#inUse) : 0;
  }

  /**
   * Reserves capacity for a new run if the run can execute at once.
   * @returns whether capacity was reserved.
   */
  tryReserve(): boolean {
    if (!this.queueEmpty || this.free === 0) return false;
    this.#inUse += 1;
    return true;
  }

  /**
   * Reserves capacity for runs without checking `free`. Runs that are claimed only to be ended can
   * exceed `max`.
   */
  reserve(count: number): void {
    this.#inUse += count;
  }

  release(count: number): void {
    this.#inUse -= count;
  }

  /**
   * Records that a run was queued. With free capacity, `queueEmpty` stays as it is: the caller
   * makes this process claim, and the claim finds out whether runs are left. Otherwise a single
   * queued run would make all processes queue their new runs, each of which would do the same.
   */
  noteQueued(): void {
    if (this.free === 0) this.#queueEmpty = false;
  }

  /** Records whether the queue is empty, as found by a claim. */
  foundQueue({ empty }: { readonly empty: boolean }): void {
    this.#queueEmpty = empty;
  }

  /** How often `foundDeaths` was called. */
  get deaths(): number {
    return this.#deaths;
  }

  /** Records that processes were declared dead, whose runs may wait for capacity. */
  foundDeaths(): void {
    this.#deaths += 1;
    this.#hasAbandoned = true;
  }

  /**
   * Records whether abandoned runs may wait for capacity, as found by a failover.
   * @param options.deaths value of `deaths` when the failover began. If it has grown, the failover
   *   may have missed runs, so the result is not recorded.
   */
  foundAbandoned({
    waiting,
    deaths,
  }: {
    readonly waiting: boolean;
    readonly deaths: number;
  }): void {
    if (deaths === this.#deaths) this.#hasAbandoned = waiting;
  }

  /** Makes readiness checks fail, permanently. Runs are still accepted. */
  announceDrain(): void {
    this.#announced = true;
  }

  /** Stops accepting runs, permanently. */
  drain(): void {
    this.#announced = true;
    this.#draining = true;
    this.#open = false;
  }
}
