import { truncated } from "./error.ts";

/**
 * Reads a body as text, chunk by chunk. Leaving the `for await` loop closes the connection.
 * @param idleTimeoutMs maximum time without data, because a lost connection does not always report
 *   an error
 * @throws BeckonError `no_answer` if the body is truncated or no data comes; the signal's reason if
 *   the signal aborts
 */
export async function* readText(
  response: Response,
  operation: string,
  idleTimeoutMs: number,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let idle: Error | undefined;
  // `reader.cancel()` closes the connection at once, even if the caller is not waiting for a chunk,
  // and resolves a pending `reader.read()`. A `Promise.race` of each read with one promise for the
  // whole connection would do so too, but that promise would keep every chunk in memory until it is
  // settled, because each race adds a reaction to it.
  const cancel = () => void reader.cancel().catch(() => {});
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const timer = setTimeout(() => {
        idle = new Error(`no data for ${idleTimeoutMs} ms`);
        cancel();
      }, idleTimeoutMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      // After `reader.cancel()`, `done` is true although the body is not complete.
      signal?.throwIfAborted();
      if (idle !== undefined) throw idle;
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    throw truncated(operation, thrown);
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}
