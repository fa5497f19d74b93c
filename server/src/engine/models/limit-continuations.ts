import { ModelFailure } from "../model-failure.ts";

/**
 * Maximum number of requests of one call. Google splits a long answer over several requests, and a
 * few requests are enough to reach a model's output limit.
 */
const maxRequests = 16;

/**
 * Wraps `fetch` and limits the number of requests that have the same signal, which are the requests
 * of one call. Without this limit the library would send requests for as long as the server's
 * responses ask it to continue.
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
