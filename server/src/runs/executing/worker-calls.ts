interface Calls {
  /** Makes the worker claim queued runs soon. */
  readonly claim: () => void;
  /**
   * Makes the worker claim queued runs, and waits until it has. Claims do not overlap, so a claim
   * that was in progress at the call has then ended, too.
   */
  readonly nextClaim: () => Promise<void>;
  /** Makes the worker take over the runs of dead processes soon. */
  readonly takeOver: () => void;
  /**
   * Makes the worker soon queue the held runs whose agents are no longer paused and whose limits
   * are no longer spent.
   */
  readonly release: () => void;
  /**
   * Makes the worker poll the database, as long as any run is held, for held runs that can be
   * queued. Unlike `release`, this function does not query the database at once: it is called for
   * each new held run, and there can be thousands in a second.
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
  readonly nextClaim = async (): Promise<void> => this.#calls?.nextClaim();
  readonly takeOver = (): void => this.#calls?.takeOver();
  readonly release = (): void => this.#calls?.release();
  readonly noteHeld = (): void => this.#calls?.noteHeld();

  /** @throws if a worker is connected already: it would no longer be called. */
  connect(calls: Calls): void {
    if (this.#calls !== undefined) throw new Error("a worker is already connected");
    this.#calls = calls;
  }

  disconnect(): void {
    this.#calls = undefined;
  }
}
