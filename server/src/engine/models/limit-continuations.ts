import { ModelFailure } from "../model-failure.ts";

/** Requests of one call. Google's answers continue in another request up to the model's output limit; a few are enough for it. */
const maxRequests = 16;

/**
 * The library follows an answer that says it continues for as long as the server says so: without this limit one call could grow
 * until its step is over. Requests of one call share their signal.
 */
export function limitContinuations(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const made = new WeakMap<AbortSignal, number>();
  return (input, init) => {
    const signal = init?.signal ?? undefined;
    if (signal === undefined) return fetch(input, init);
    const count = (made.get(signal) ?? 0) + 1;
    made.set(signal, count);
    if (count > maxRequests) {
      return Promise.reject(
        new ModelFailure("The model's answer is continued without end.", { retryable: false }),
      );
    }
    return fetch(input, init);
  };
}
