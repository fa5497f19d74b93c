/**
 * Returns the result of `promise`, or rejects with the reason of `signal` as soon as the signal
 * aborts. Use this for operations that do not stop when their signal aborts. The operation itself
 * continues; if it rejects later, that error is ignored.
 */
export function raceSignal<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener("abort", onAbort);
        resolve(value);
      },
      (thrown) => {
        signal.removeEventListener("abort", onAbort);
        reject(thrown);
      },
    );
  });
}

/**
 * Calls `subscribe` with a function `wake`. Resolves at the first call of `wake`, or when `signal`
 * aborts.
 *
 * @param subscribe registers `wake` and returns a function that unregisters it. The returned
 *   function is called once. `subscribe` is not called if `signal` has already aborted.
 */
export function untilWoken(
  signal: AbortSignal,
  subscribe: (wake: () => void) => () => void,
): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    let unsubscribe: (() => void) | undefined;
    let woken = false;
    const wake = () => {
      if (woken) return;
      woken = true;
      signal.removeEventListener("abort", wake);
      unsubscribe?.();
      resolve();
    };
    signal.addEventListener("abort", wake, { once: true });
    unsubscribe = subscribe(wake);
    // If `subscribe` called `wake` synchronously, `unsubscribe` was not assigned yet, so it is
    // called here.
    if (woken) unsubscribe();
  });
}

/** A controller that aborts when a signal aborts, unless `release` was called before. */
export interface LinkedAbort {
  readonly controller: AbortController;
  /** Removes the listener from the signal. */
  release(): void;
}

/**
 * Returns a controller that aborts when `signal` aborts, or at once if `signal` has already
 * aborted. `AbortSignal.any` is not used: its signals are registered for finalization, so they
 * survive minor garbage collections and stay in memory until a full collection
 * (docs/decisions/0012-what-is-brief-dies-young.md).
 */
export function linkAbort(signal: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal.removeEventListener("abort", stop) };
}
