import type { Page, Route } from "playwright-core";

/** Which requests are held, and how. */
export interface HoldOptions {
  /** Method of the requests to hold. Default: all methods. */
  readonly method?: string;
  /** Number of requests to hold. Default: all. */
  readonly times?: number;
  /** True to send a request at once and to hold its response. Default: false. */
  readonly isSent?: boolean;
  /** Handles a request after its release if `isSent` is false. Default: sends the request. */
  readonly handle?: (route: Route) => Promise<void>;
}

/**
 * Holds the requests to these URLs.
 * @returns `reached`, which resolves when the first one is held, and `release`, which resolves when
 *   the first one is handled. Requests after `release` are not held.
 */
export async function holdRequests(page: Page, url: string | RegExp, options: HoldOptions = {}) {
  const { method, times, isSent = false, handle = (route) => route.continue() } = options;
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const handled = Promise.withResolvers<void>();
  await page.route(
    url,
    async (route) => {
      if (method !== undefined && route.request().method() !== method) return route.continue();
      const response = isSent ? await route.fetch() : undefined;
      reached.resolve();
      await released.promise;
      await (response === undefined ? handle(route) : route.fulfill({ response }));
      handled.resolve();
    },
    times === undefined ? {} : { times },
  );
  return {
    reached: reached.promise,
    release: () => {
      released.resolve();
      return handled.promise;
    },
  };
}

/** Waits until the page has rendered some frames, so that it shows what it has received. */
export async function renderFrames(page: Page): Promise<void> {
  for (let frame = 0; frame < 10; frame++)
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
}
