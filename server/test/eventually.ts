/** Milliseconds that a test waits for what it expects before it fails. */
const patience = 10_000;

/**
 * Looks again and again until `look` finds something, and resolves with it.
 * @throws Error that names `what`, when it has not come about within so many milliseconds.
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  within = patience,
): Promise<T> {
  for (const deadline = performance.now() + within; performance.now() < deadline; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`in ${within / 1_000} s there was not: ${what}`);
}
