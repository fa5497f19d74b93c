/**
 * If a process ran for longer than this, its start counts as successful and the delay is `minMs`
 * again.
 */
const wellAfterMs = 60_000;

/**
 * Calculates the delay before a process that exited is started again. The delay begins with `minMs`
 * and doubles with each exit, up to `maxMs`.
 */
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
   * Returns the delay in milliseconds after a process ran for `ranMs`. The delay is `minMs` again
   * if the process ran for more than a minute.
   */
  after(ranMs: number): number {
    const delayMs = ranMs > wellAfterMs ? this.#minMs : this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, this.#maxMs);
    return delayMs;
  }
}
