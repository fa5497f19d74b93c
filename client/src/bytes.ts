import { BeckonError } from "./error.ts";

/**
 * A body, piece by piece, as fast as it is asked for. A connection that has died does not always say so: `idle` milliseconds without a byte
 * end it too. Leaving early closes it.
 * @throws BeckonError `no_answer` when it breaks off; the signal's reason.
 */
export async function* textOf(
  response: Response,
  what: string,
  idle: number,
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
  const abort = () => stop(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      const timer = setTimeout(() => stop(new Error(`nothing came for ${idle} ms`)), idle);
      const { done, value } = await Promise.race([reader.read(), stopped]).finally(() =>
        clearTimeout(timer),
      );
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    throw new BeckonError({
      code: "no_answer",
      message: `The answer to ${what} broke off.`,
      cause: thrown,
    });
  } finally {
    signal?.removeEventListener("abort", abort);
    reader.cancel().catch(() => {});
  }
}
