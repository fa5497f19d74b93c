import type { BrowserContextOptions, Page } from "playwright-core";
import { test } from "vitest";
import { browserPath, openBrowserPage } from "../../server/test/browser.ts";
import { cookieFor, profileOptions, type Theme } from "./viewports.ts";

/**
 * Opens the dashboard in Chromium. Each page has an empty profile of its own. `openBrowserPage`
 * documents which faults of a page fail the test.
 *
 *     const beckon = await startTestBeckon();
 *     const owner = await createOwner(beckon.url, await setupToken(beckon));
 *
 *     inBrowser("an agent is paused with a reason", async () => {
 *       const page = await openDashboard(beckon.url, { as: owner, path: `/w/${owner.workspaceId}` });
 */

/** A test that needs Chromium; skipped without it. */
export const inBrowser = test.skipIf(browserPath === undefined);

export { themes, viewports } from "./viewports.ts";

export interface OpenOptions extends BrowserContextOptions {
  /** Default: `/`. */
  readonly path?: string;
  /** The signed-in user; default: nobody is signed in. */
  readonly as?: { readonly cookie: string };
  /** Default: `light`. */
  readonly theme?: Theme;
}

/**
 * Opens a path of the dashboard at `url`. Other options are those of Playwright's `newContext`.
 * Default viewport: 1440 × 900.
 */
export async function openDashboard(
  url: string,
  { path = "/", as, theme = "light", ...options }: OpenOptions = {},
): Promise<Page> {
  const page = await openBrowserPage(new URL(url).origin, {
    ...profileOptions,
    colorScheme: theme,
    ...options,
  });
  page.setDefaultTimeout(25_000);
  if (as !== undefined) await page.context().addCookies([cookieFor(url, as.cookie)]);
  await page.goto(new URL(path, url).href);
  return page;
}
