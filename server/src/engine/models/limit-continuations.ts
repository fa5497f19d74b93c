import { ModelFailure } from "../model-failure.ts";

/**
 * Maximum requests of one call. Google splits long answers over several requests; a few reach the
 * model's output limit.
 */
const maxRequests = 16;

/**
 * Wraps `fetch` to limit the requests that share a signal, which are those of one call. Without
 * this limit the library follows "continued" responses for as long as the server sends them.
 */
export function limitContinuations(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const requestCounts = new WeakMap<AbortSignal, number>();
  return (input, init) => {
    const signal = init?.signal ?? undefined;
    if (signal === undefined) return fetch(input, init);
    const count = (requestCounts.get(signal) ?? 0) + 1;
    requestCounts.set(signal, count);
    if (count > maxRequests) {
      return Promise.reject(
        new ModelFailure(
          `The model's answer needs more than ${maxRequests} continuation requests.`,
          { retryable: false },
        ),
      );
    }
    return fetch(input, init);
  };
}
