/**
 * Default timeout of a wait in tests, in milliseconds. Some waits depend on other test files,
 * because events and sums of usage wait for the oldest transaction of all databases of a server.
 */
const defaultTimeoutMs = 25_000;

/**
 * Calls `poll` until it returns a value, and resolves with that value.
 *
 * @param within timeout in milliseconds.
 * @throws {Error} the timeout is over; the message contains `what`.
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
