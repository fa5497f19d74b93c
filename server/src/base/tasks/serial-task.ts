/** A task of which two calls never overlap. */
export interface SerialTask {
  /** Calls the task soon, and again for as long as it returns true. */
  wake(): void;
  /** Does the same, and waits for the end of the next call that begins. */
  next(): Promise<void>;
  /** Waits until no call is in progress. */
  idle(): Promise<void>;
}

/**
 * Creates a task.
 * @param stopping when it aborts, no further call begins, and `next` waits for none
 * @param run one call of the task; must not throw
 */
export function createSerialTask(stopping: AbortSignal, run: () => Promise<unknown>): SerialTask {
  let again = false;
  let running: Promise<void> | undefined;
  /** Resolved when the next call of `run` has ended; undefined if nothing waits for that call. */
  let next: PromiseWithResolvers<void> | undefined;
  async function runRepeatedly(): Promise<void> {
    try {
      do {
        // Waits one turn of the event loop, so that many calls of `wake` in one turn, for example
        // when many runs start at once, lead to a single call of `run`.
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (stopping.aborted) return;
        again = false;
        const current = next;
        next = undefined;
        try {
          again = (await run()) === true || again;
        } finally {
          current?.resolve();
        }
      } while (again);
    } finally {
      // No `await` comes between the last check of `again` and this line. Otherwise `wake` could be
      // called between them: `running` would still be set, so `run` would not be called again.
      running = undefined;
      next?.resolve();
      next = undefined;
    }
  }
  function wake(): void {
    again = true;
    running ??= runRepeatedly();
  }
  return {
    wake,
    next() {
      next ??= Promise.withResolvers<void>();
      wake();
      return next.promise;
    },
    idle: async () => running,
  };
}
