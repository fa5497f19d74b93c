import { withTimeout } from "./exchange.ts";

/** Reason of the signal after `return()`. */
const left = new Error("the stream was left");

/**
 * Returns a generator whose `return()` takes effect at once: it aborts the signal of `generate`,
 * and a pending `next()` then resolves as done. The `return()` of another async generator waits for
 * a pending `next()`, so the connection of a stream would stay open until the next event.
 * @param signal also aborts the signal of `generate`. It can live as long as the program, so it has
 *   no listener after the end of the generator, which would keep the response in memory
 */
export function leavable<T>(
  signal: AbortSignal | undefined,
  generate: (signal: AbortSignal) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { signal: either, abort, release } = withTimeout({ signal });
  const values = generate(either);
  const next = values.next.bind(values);
  const end = values.return.bind(values);
  return Object.assign(values, {
    async next(): Promise<IteratorResult<T>> {
      try {
        const result = await next();
        if (result.done) release();
        return result;
      } catch (thrown) {
        release();
        if (thrown !== left) throw thrown;
        return { done: true, value: undefined };
      }
    },
    return(value: unknown): Promise<IteratorResult<T>> {
      abort(left);
      release();
      return end(value);
    },
  });
}
