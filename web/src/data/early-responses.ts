declare global {
  /**
   * Responses by workspace id (empty for those about the person), space, path and search, which
   * public/theme.js has requested.
   */
  var beckonEarlyResponses: Map<string, Promise<Response>> | undefined;
}

/** Later, what a screen shows must be read when it is opened. */
const maxAgeMs = 10_000;

/**
 * Sends a request as `fetch` does. Takes the response that public/theme.js has requested with the
 * page, if there is one without an error: once, in the first 10 s, and before the first change that
 * the page requests, a sign-in included.
 */
export const fetchOnce: typeof fetch = (input, init) => {
  if ((init?.method ?? "GET") !== "GET") globalThis.beckonEarlyResponses?.clear();
  const { pathname, search } = new URL(String(input), location.origin);
  const workspaceId = new Headers(init?.headers).get("beckon-workspace") ?? "";
  const key = `${workspaceId} ${pathname}${search}`;
  const early = globalThis.beckonEarlyResponses?.get(key);
  if (early === undefined || performance.now() > maxAgeMs) return fetch(input, init);
  globalThis.beckonEarlyResponses?.delete(key);
  const send = () => fetch(input, init);
  return new Promise((resolve, reject) => {
    early.then(
      (response) => resolve(response.ok ? response : send()),
      () => resolve(send()),
    );
    // The signal ends the waiting only, because the request was sent without it.
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
  });
};
