import { ModelFailure } from "../model-failure.ts";
import { takeBound } from "./cap-output.ts";

/**
 * Maximum number of requests of one call. Google splits a long answer over several requests, and a
 * few requests are enough to reach a model's output limit.
 */
const maxRequests = 16;

/**
 * Wraps `fetch` and limits the number of requests that have the same signal, which are the requests
 * of one call. Without this limit the library would send requests for as long as the server's
 * responses ask it to continue.
 *
 * A call with an output bound sends only one request. If the library asks to continue, the answer
 * ends as truncated, because Google bills the prompt and the answer so far again for each further
 * request, and the run has reserved only one prompt.
 */
export function limitContinuations(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const requestCounts = new WeakMap<AbortSignal, number>();
  return (input, init) => {
    const { bound, sent } = takeBound(init);
    const signal = sent?.signal ?? undefined;
    if (signal === undefined) return fetch(input, sent);
    const count = (requestCounts.get(signal) ?? 0) + 1;
    requestCounts.set(signal, count);
    if (count > 1 && bound !== undefined)
      return Promise.resolve(truncatedHere(String(input).includes(":streamGenerateContent")));
    if (count > maxRequests) {
      return Promise.reject(
        new ModelFailure(
          `The model's answer needs more than ${maxRequests} continuation requests.`,
          { retryable: false },
        ),
      );
    }
    return fetch(input, sent);
  };
}

/**
 * Returns a response that ends an answer as truncated. The library adds it to the earlier response,
 * so the usage that the earlier response reported is kept.
 */
function truncatedHere(streamed: boolean): Response {
  const end = JSON.stringify({ candidates: [{ finishReason: "MAX_TOKENS" }] });
  return streamed
    ? new Response(`data: ${end}\n\n`, { headers: { "content-type": "text/event-stream" } })
    : new Response(end, { headers: { "content-type": "application/json" } });
}
