interface Calls {
  /** Makes the worker claim queued runs soon. */
  readonly claim: () => void;
  /** Makes the worker take over the runs of dead processes soon. */
  readonly takeOver: () => void;
  /** Makes the worker soon queue the held runs that nothing holds any longer. */
  readonly release: () => void;
  /**
   * Makes the worker poll for held runs that nothing holds any longer, while any run is held.
   * Unlike `release`, it does not query the database at once, because it is called for each run
   * that is held, which can be thousands in a second.
   */
  readonly noteHeld: () => void;
}

/**
 * Calls functions of this process's worker. Does nothing if the process has no worker, or its
 * worker has stopped.
 */
export class WorkerCalls implements Calls {
  #calls: Calls | undefined;

  readonly claim = (): void => this.#calls?.claim();
  readonly takeOver = (): void => this.#calls?.takeOver();
  readonly release = (): void => this.#calls?.release();
  readonly noteHeld = (): void => this.#calls?.noteHeld();

  connect(calls: Calls): void {
    this.#calls = calls;
  }

  disconnect(): void {
    this.#calls = undefined;
  }
}
