/** A process that ran for longer than this had started successfully. */
const wellAfterMs = 60_000;

/** Delay before a process that exited is restarted: doubles each time, up to `maxMs`. */
export class RestartDelay {
  readonly #minMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor({ minMs, maxMs }: { readonly minMs: number; readonly maxMs: number }) {
    this.#minMs = minMs;
    this.#maxMs = maxMs;
    this.#nextMs = minMs;
  }

  /** Returns the delay in milliseconds; `minMs` again if the process ran for more than a minute. */
  after(ranMs: number): number {
    const delayMs = ranMs > wellAfterMs ? this.#minMs : this.#nextMs;
    this.#nextMs = Math.min(delayMs * 2, this.#maxMs);
    return delayMs;
  }
}
