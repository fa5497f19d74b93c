declare global {
  /** Responses by path and search, which public/theme.js has requested. */
  var beckonEarlyResponses: Map<string, Promise<Response>> | undefined;
}

/** Later, what a screen shows must be read when it is opened. */
const maxAgeMs = 10_000;

/**
 * Sends a request as `fetch` does. Takes the response that public/theme.js has requested with the
 * page, once and in the first 10 s, if there is one.
 */
export const fetchOnce: typeof fetch = (input, init) => {
  const { pathname, search } = new URL(String(input), location.origin);
  const early = globalThis.beckonEarlyResponses?.get(pathname + search);
  const isRead = (init?.method ?? "GET") === "GET";
  if (early === undefined || !isRead || performance.now() > maxAgeMs) return fetch(input, init);
  globalThis.beckonEarlyResponses?.delete(pathname + search);
  return new Promise((resolve, reject) => {
    early.then(resolve, () => resolve(fetch(input, init)));
    // The signal ends the waiting only, because the request was sent without it.
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
  });
};
