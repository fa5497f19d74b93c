/**
 * How much later the server's clock is than the browser's, in ms. Can be negative. Undefined before
 * the first response.
 */
let aheadMs: number | undefined;

/**
 * A decrease of `aheadMs` by at most this time, in ms, is ignored, so that `serverNow` does not go
 * back. It can be an error of measurement: `Date` is exact to 1 s only, and some responses take
 * longer than others.
 */
const minDecreaseMs = 2_000;

/**
 * Maximum difference between the clocks in ms that `toServerTime` ignores. Even if the browser's
 * clock is exact, `serverNow` can be up to 3 s later than the server's clock.
 */
const maxIgnoredMs = 3_000;

/** Returns a `fetch` that sends requests by `send` and reads the server's time from responses. */
export function readingTime(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const date = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(date)) return response;
    // `Date` has whole seconds, rounded down (RFC 9110, section 5.6.7). The second that is added
    // makes `serverNow` later than everything that the response shows. For the same reason, an
    // increase is never ignored.
    const nextMs = date + 1_000 - Date.now();
    if (aheadMs === undefined || nextMs > aheadMs || aheadMs - nextMs > minDecreaseMs)
      aheadMs = nextMs;
    return response;
  };
}

/**
 * Returns the server's time as Unix time in ms. It is usually 0 to 1 s later than the server's
 * clock. If the last responses were slow, it can be earlier. If a clock was changed, it can be up
 * to 3 s later. Use it for time ranges of API calls, because the browser's clock can be wrong.
 * Before the first response, it returns the browser's time.
 */
export function serverNow(): number {
  return Date.now() + (aheadMs ?? 0);
}

/**
 * Returns a time of the browser's clock as a time of the server's clock, both as Unix time in ms.
 * Use it for what is shown beside the server's times, such as durations that still grow. Unlike
 * `serverNow`, it adds nothing if the browser's clock is exact.
 * @param browserMs Default: now
 */
export function toServerTime(browserMs: number = Date.now()): number {
  return browserMs + (Math.abs(aheadMs ?? 0) > maxIgnoredMs ? (aheadMs ?? 0) : 0);
}
