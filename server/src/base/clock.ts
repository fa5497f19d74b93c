/**
 * The process's clock. Leases, deadlines across processes and everything that is stored use the database's clock instead;
 * this one measures durations and waits inside one process.
 */

/** Milliseconds of a clock that never goes back; its zero means nothing. */
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
 * Settles as `work` does, or rejects after `ms`; the work then goes on, and nobody hears of its end.
 * @throws what `late` makes.
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
