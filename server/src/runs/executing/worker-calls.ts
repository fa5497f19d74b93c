interface Calls {
  /** Claims queued runs soon. */
  readonly claim: () => void;
  /** Takes over runs of dead processes soon. */
  readonly takeOver: () => void;
}

/**
 * Wakes the worker. Calls do nothing in a process that has no worker, or whose worker has stopped.
 */
export class WorkerCalls implements Calls {
  #calls: Calls | undefined;

  readonly claim = (): void => this.#calls?.claim();
  readonly takeOver = (): void => this.#calls?.takeOver();

  connect(calls: Calls): void {
    this.#calls = calls;
  }

  disconnect(): void {
    this.#calls = undefined;
  }
}
