/** Milliseconds after which a process that still runs is taken to be well. */
const wellAfterMs = 60_000;

/** How long to wait before a process that has ended is started again: twice as long each time. */
export class RestartDelay {
  readonly #minMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#nextMs = minMs;
  }

  /**
   * Returns the milliseconds to wait now; the least again if the process ran for a minute.
   * @param ranMs milliseconds that the process ran.
   */
  after(ranMs: number): number {
    const delayMs = ranMs > wellAfterMs ? this.#minMs : this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, this.#maxMs);
    return delayMs;
  }
}
