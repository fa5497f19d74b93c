import type { HeapGuard } from "../../base/heap-guard.ts";

/** Counts the runs that this process executes, and decides whether it accepts more. */
export class Capacity {
  /** Maximum of runs that execute at the same time. */
  readonly max: number;
  readonly #heap: Pick<HeapGuard, "isFull">;
  #inUse = 0;
  #queueEmpty = false;
  #open: boolean;
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

  /** Whether this process executes runs: not with the role `api`, and not while it drains. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether this process stops: it accepts no more runs and is not ready. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /**
   * Whether the last claim left the queue empty. Otherwise new runs must be queued, so that they do
   * not overtake older ones.
   */
  get queueEmpty(): boolean {
    return this.#queueEmpty;
  }

  /** Number of runs that this process can accept now. */
  get free(): number {
    return this.#open && !this.#heap.isFull ? Math.max(0, this.max - this.#inUse) : 0;
  }

  /** Reserves capacity for a new run, if it can execute at once. */
  tryReserve(): boolean {
    if (!this.#queueEmpty || this.free === 0) return false;
    this.#inUse += 1;
    return true;
  }

  reserve(count: number): void {
    this.#inUse += count;
  }

  release(count: number): void {
    this.#inUse -= count;
  }

  /** Records whether the queue is empty, according to a claim or a message of another process. */
  foundQueue({ empty }: { readonly empty: boolean }): void {
    this.#queueEmpty = empty;
  }

  /** Stops accepting runs, permanently. */
  drain(): void {
    this.#draining = true;
    this.#open = false;
  }
}
