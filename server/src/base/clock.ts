/**
 * The clock of this process, for durations and delays inside it. Leases, deadlines shared between
 * processes and stored times use the database's clock instead.
 */

/** Returns milliseconds of a monotonic clock with an arbitrary origin. */
export function elapsed(): number {
  return performance.now();
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Returns the result of `work`, or rejects after `ms`. The work itself continues and its result is
 * ignored.
 * @param ms milliseconds.
 * @throws the value that `late` returns, if the time is over first.
 */
export async function within<T>(work: Promise<T>, ms: number, late: () => unknown): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
