interface Calls {
  /** There may be something to claim. */
  readonly claim: () => void;
  /** There may be something to take over, or to end, of dead processes. */
  readonly takeOver: () => void;
}

/** Wakes the worker. Without one, in a process that executes nothing or has stopped, a call does nothing. */
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
