/**
 * The clock of this process, for durations and delays inside it. Leases, deadlines shared between
 * processes and stored times use the database's clock instead.
 */

/** Returns the milliseconds since an arbitrary point in time, by a monotonic clock. */
export function elapsed(): number {
  return performance.now();
}

/**
 * Resolves after `ms` milliseconds, or rejects with the reason of `signal` as soon as it aborts.
 */
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

/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleep(ms, signal).catch(() => {});
}

/**
 * Returns the result of `work`; undefined if `work` takes longer than `ms` milliseconds. The work
 * is not stopped then, and its result is ignored.
 * @throws the error of `work`, if it fails in time.
 */
export async function undefinedAfter<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the result of `work`, or rejects if `work` takes longer than `ms` milliseconds. The work
 * is not stopped then, and its result is ignored.
 * @throws the value that `late` returns, if `work` takes longer than `ms`; else the error of
 *   `work`.
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
