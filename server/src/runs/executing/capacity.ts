import type { HeapGuard } from "../../base/heap-guard.ts";

/** How many runs this process executes, and whether it takes more. */
export class Capacity {
  /** Runs executing at once. */
  readonly max: number;
  readonly #heap: Pick<HeapGuard, "isFull">;
  #taken = 0;
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

  /** Set while stopping: nothing new is taken, and readiness says so. */
  get isDraining(): boolean {
    return this.#draining;
  }

  /** Whether the last claim left nothing in the queue. Only then is a run created running, past those that wait. */
  get queueEmpty(): boolean {
    return this.#queueEmpty;
  }

  /** Runs that can be taken now. */
  get free(): number {
    return this.#open && !this.#heap.isFull ? Math.max(0, this.max - this.#taken) : 0;
  }

  /** Takes one run's capacity for a start, if the run could execute at once. */
  tryReserve(): boolean {
    if (!this.#queueEmpty || this.free === 0) return false;
    this.#taken += 1;
    return true;
  }

  reserve(count: number): void {
    this.#taken += count;
  }

  release(count: number): void {
    this.#taken -= count;
  }

  /** Records what a claim, or a message of another process, says of the queue. */
  foundQueue({ empty }: { readonly empty: boolean }): void {
    this.#queueEmpty = empty;
  }

  /** Takes nothing more, for good. */
  drain(): void {
    this.#draining = true;
    this.#open = false;
  }
}
