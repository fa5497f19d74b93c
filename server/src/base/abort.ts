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
