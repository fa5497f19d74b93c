/**
 * Returns the result of `promise`, or rejects with the signal's reason as soon as it aborts, for
 * operations that ignore their signal. The operation itself is not stopped; if it rejects later,
 * the error is ignored.
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
 * Resolves at the first call of `wake`, or when `signal` aborts.
 *
 * @param subscribe registers `wake` and returns the function that unregisters it, which is called
 *   once. Not called if `signal` has already aborted.
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
    // `subscribe` called `wake` synchronously.
    if (woken) unsubscribe();
  });
}

/** A controller that aborts together with a signal until it is released. */
export interface LinkedAbort {
  readonly controller: AbortController;
  /** Removes the listener from the signal. */
  release(): void;
}

/**
 * Returns a controller that aborts with `signal`, at once if that has already aborted. Not
 * `AbortSignal.any`: its signals are kept for finalization and so survive minor garbage collections
 * (decision 12).
 */
export function linkAbort(signal: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal.removeEventListener("abort", stop) };
}
