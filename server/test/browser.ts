import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { launchBrowser, openProfile } from "./chromium.ts";

export { browserPath } from "./chromium.ts";

/**
 * A host of this machine whose pages are not a secure context over http, unlike those of localhost.
 */
export const insecureHost = "beckon.test";

let opened: Promise<Browser> | undefined;

/**
 * Opens a page in a new profile. Fails the test on any of these, in all pages of the profile:
 * uncaught errors, errors in the console, violations of the content security policy, and requests
 * to other origins than `origin`.
 */
export async function openBrowserPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  opened ??= launchBrowser([`--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`]);
  const { context, faults } = await openProfile(await opened, origin, options);
  onTestFinished(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
  return context.newPage();
}

/** Closes the browser; call it at the end of a file that opens pages. */
export async function closeBrowser(): Promise<void> {
  await (await opened)?.close();
}
