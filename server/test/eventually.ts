/** Default timeout of a wait in tests, in milliseconds. */
const defaultTimeoutMs = 10_000;

/**
 * Polls `look` until it returns a value and resolves with that.
 *
 * @param within timeout in milliseconds.
 * @throws {Error} names `what` when the timeout is over.
 */
export async function eventually<T>(
  what: string,
  poll: () => T | undefined | Promise<T | undefined>,
  within = defaultTimeoutMs,
): Promise<T> {
  for (const deadline = performance.now() + within; performance.now() < deadline; ) {
    const found = await poll();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`timeout after ${within / 1_000} s: ${what}`);
}
