import { BeckonError } from "./error.ts";

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
  let stop: (reason: unknown) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = reject;
  });
  stopped.catch(() => {});
  // `reader.cancel()` closes the connection at once, even if the caller is not waiting for a chunk.
  const abort = () => {
    stop(signal?.reason);
    reader.cancel().catch(() => {});
  };
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      const timer = setTimeout(
        () => stop(new Error(`no data for ${idleTimeoutMs} ms`)),
        idleTimeoutMs,
      );
      const { done, value } = await Promise.race([reader.read(), stopped]).finally(() =>
        clearTimeout(timer),
      );
      // After `reader.cancel()`, `done` is true although the body is not complete.
      signal?.throwIfAborted();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    throw new BeckonError({
      code: "no_answer",
      message: `The response to ${operation} was truncated.`,
      cause: thrown,
    });
  } finally {
    signal?.removeEventListener("abort", abort);
    reader.cancel().catch(() => {});
  }
}
