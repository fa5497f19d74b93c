import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { undefinedAfter } from "../src/base/clock.ts";
import { forgetMissingFiles, launchBrowser, openProfile, type Profile } from "./chromium.ts";

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
 * pays off, drawing needs no process of its own, and neither does each page of a profile.
 */
const leanFlags = [
  "--js-flags=--no-turbofan --no-maglev",
  "--in-process-gpu",
  "--process-per-site",
];

async function openBrowser(): Promise<Browser> {
  const browser = await launchBrowser([
    `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`,
    ...leanFlags,
  ]);
  // After a crash of Chromium, the next file starts another one. So only the current file fails.
  browser.on("disconnected", () => {
    opened = undefined;
    emptyProfiles.clear();
  });
  return browser;
}

/**
 * Profiles that tests of the current file have left empty, by their origin and options. Each has
 * one page, so that the process stays with the scripts that it has compiled. A page of the
 * dashboard that gets them needs a quarter less CPU.
 */
const emptyProfiles = new Map<string, Profile[]>();

/** Closes the profiles that the tests of a file have left. */
export async function closeProfiles(): Promise<void> {
  const left = [...emptyProfiles.values()].flat();
  emptyProfiles.clear();
  for (const { context } of left) await context.close();
}

/**
 * Opens a page in an empty profile. Fails the test on any of these, in all pages of the profile:
 * uncaught errors, errors in the console, violations of the content security policy, and requests
 * to other origins than `origin`. If the test fails, prints what the pages show. Do not use the
 * page's `clock`: it also sets that of tests that use the profile later.
 */
export async function openBrowserPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  opened ??= openBrowser().catch((thrown: unknown) => {
    opened = undefined;
    throw thrown;
  });
  const browser = await opened;
  const key = JSON.stringify([origin, options]);
  const same = emptyProfiles.get(key) ?? [];
  emptyProfiles.set(key, same);
  const profile = same.pop() ?? (await openProfile(browser, origin, options));
  const { context, faults } = profile;
  onTestFinished(async ({ task }) => {
    const failed = task.result?.state === "fail";
    if (failed) for (const page of context.pages()) await printState(page);
    // A Playwright route handler that is still running would reject after the test. This unhandled
    // rejection would fail the whole test run.
    for (const page of context.pages()) await page.unrouteAll({ behavior: "ignoreErrors" });
    if (!failed && (await emptyProfile(context, origin)) && faults.length === 0) same.push(profile);
    else await context.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
  return context.newPage();
}

/**
 * Closes all pages of a profile but one, and removes what they have stored.
 * @returns whether the profile can be used by another test.
 */
async function emptyProfile(context: BrowserContext, origin: string): Promise<boolean> {
  try {
    const pages = context.pages();
    const kept = pages.pop();
    if (kept === undefined) return false;
    for (const page of pages) await page.close();
    await context.unrouteAll({ behavior: "ignoreErrors" });
    // Only a page of the same origin keeps the process. Its status is no fault: see `openProfile`.
    await kept.goto(`${origin}/api/blank`);
    const session = await context.newCDPSession(kept);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    await session.detach();
    forgetMissingFiles(context);
    return true;
  } catch {
    return false;
  }
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
