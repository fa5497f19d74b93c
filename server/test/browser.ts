import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { undefinedAfter } from "../src/base/clock.ts";
import { launchBrowser, openProfile } from "./chromium.ts";

export { browserPath } from "./chromium.ts";

/**
 * A host of this machine whose pages are not a secure context over http, unlike those of localhost.
 */
export const insecureHost = "beckon.test";

/**
 * All test files of a process share one Chromium, because starting it takes as much CPU as a short
 * test file. Each page has its own profile. Playwright stops Chromium when the process exits.
 */
let opened: Promise<Browser> | undefined;

/**
 * Flags that save CPU. A page of a test is closed before the time that V8 spends on optimized code
 * pays off, and drawing needs no process of its own.
 */
const leanFlags = ["--js-flags=--no-turbofan --no-maglev", "--in-process-gpu"];

async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser([
    `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`,
    ...leanFlags,
  ]);
  // After a crash of Chromium, the next file starts another one. So only the current file fails.
  browser.on("disconnected", () => {
    opened = undefined;
  });
  return browser;
}

/**
 * Opens a page in a new profile. Fails the test on any of these, in all pages of the profile:
 * uncaught errors, errors in the console, violations of the content security policy, and requests
 * to other origins than `origin`. If the test fails, prints what the pages show.
 */
export async function openBrowserPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  opened ??= openBrowser().catch((thrown: unknown) => {
    opened = undefined;
    throw thrown;
  });
  const { context, faults } = await openProfile(await opened, origin, options);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") for (const page of context.pages()) await printState(page);
    // A Playwright route handler that is still running would reject after the test. This unhandled
    // rejection would fail the whole test run.
    for (const page of context.pages()) await page.unrouteAll({ behavior: "ignoreErrors" });
    await context.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
  return context.newPage();
}

/** Prints what a page shows, because many failures of a browser test only say what it lacks. */
async function printState(page: Page): Promise<void> {
  const state = page
    .evaluate<[string, string]>(
      "[document.activeElement?.cloneNode().outerHTML, document.body.innerText]",
    )
    .catch((thrown: unknown) => ["", String(thrown)]);
  const [focused, text] = (await undefinedAfter(state, 2_000)) ?? ["", "It does not respond."];
  console.error(`${page.url()}\nfocus: ${focused}\n${text}`);
}
