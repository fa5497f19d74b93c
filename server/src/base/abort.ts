/**
 * Settles with `promise`, or rejects with the signal's reason as soon as it aborts: what ignores its signal must not hold
 * its caller. A promise left behind may still reject, unnoticed.
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
 * @param subscribe arranges for `wake` to be called; not called if `signal` has aborted. What it
 *   returns undoes that, and is called once.
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
    // Woken by `subscribe` itself.
    if (woken) unsubscribe();
  });
}

/** A controller that aborts with a signal, until it is released. */
export interface LinkedAbort {
  readonly controller: AbortController;
  /** Takes the listener off the signal. */
  release(): void;
}

/**
 * Returns a controller that aborts with `signal`, at once if that has aborted. Not `AbortSignal.any`:
 * it keeps each signal for finalization, so that none dies young (decision 12).
 */
export function linkAbort(signal: AbortSignal): LinkedAbort {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return { controller, release: () => signal.removeEventListener("abort", stop) };
}
