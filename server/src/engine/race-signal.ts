/**
 * Settles with `promise`, or rejects with the signal's reason as soon as it aborts: what ignores its signal must not hold
 * a run. A promise left behind may still reject; nobody is told.
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
