declare global {
  /**
   * Responses that public/theme.js has requested before the page's code ran. The key is `<workspace
   * id> <path><search>`; the workspace id is empty for calls about the person.
   */
  var beckonEarlyResponses: Map<string, Promise<Response>> | undefined;
}

/**
 * Milliseconds after the start of the page during which early responses are used. A screen that is
 * opened later reads current data.
 */
const maxAgeMs = 10_000;

/**
 * Sends a request as `fetch` does. If public/theme.js has already sent the same request, returns
 * that response instead. It does so only once for each response, only in the first 10 s, and only
 * if the response is no error. As soon as the page sends a request that changes something, such as
 * a sign-in, the early responses are dropped.
 */
export const fetchOnce: typeof fetch = (input, init) => {
  if ((init?.method ?? "GET") !== "GET" || performance.now() > maxAgeMs) dropAll();
  const { pathname, search } = new URL(String(input), location.origin);
  const workspaceId = new Headers(init?.headers).get("beckon-workspace") ?? "";
  const key = `${workspaceId} ${pathname}${search}`;
  const early = globalThis.beckonEarlyResponses?.get(key);
  const signal = init?.signal;
  if (early === undefined || signal?.aborted) return fetch(input, init);
  globalThis.beckonEarlyResponses?.delete(key);
  return new Promise((resolve, reject) => {
    void early
      .catch(() => undefined)
      .then((response) => {
        if (response?.ok && !signal?.aborted) return resolve(response);
        if (response !== undefined) drop(response);
        if (!signal?.aborted) resolve(fetch(input, init));
      });
    // Aborting the signal only ends the wait for the response. It does not abort the request, which
    // was sent without the signal.
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
};

/**
 * Cancels the body. A response with `Cache-Control: no-store` that nobody reads would occupy one of
 * the browser's connections.
 */
const drop = (response: Response) => void response.body?.cancel().catch(() => {});

function dropAll(): void {
  for (const early of globalThis.beckonEarlyResponses?.values() ?? []) early.then(drop, () => {});
  globalThis.beckonEarlyResponses?.clear();
}
