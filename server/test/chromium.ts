import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";

/** Programs that are Chromium, or can replace it. */
const programs = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/**
 * Returns the path of Chromium: that in `CHROMIUM`, else that of an installed program; undefined if
 * there is none. The headless shell takes precedence: it is Chromium without browser windows, and
 * needs about half as much CPU for a page of the dashboard.
 * @param exists returns whether a file exists.
 * @throws {Error} if the file in `CHROMIUM` does not exist.
 */
export function findBrowser(
  { CHROMIUM, PATH = "" }: NodeJS.ProcessEnv,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  if (CHROMIUM) {
    if (exists(CHROMIUM)) return CHROMIUM;
    throw new Error(`CHROMIUM is ${CHROMIUM}, which does not exist. Set it to a Chromium.`);
  }
  // In Debian, the headless shell in PATH is a script that starts the one in this folder.
  const folders = ["/usr/lib/chromium", ...PATH.split(delimiter)];
  return programs
    .flatMap((program) => folders.map((folder) => join(folder, program)))
    .find((path) => exists(path));
}

/** Path of Chromium. Undefined if there is none; browser tests are then skipped. */
export const browserPath = findBrowser(process.env);

/** Starts Chromium. The caller closes it. */
export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    // Chromium's sandbox does not start as root (as in a container). It is not needed, because the
    // tests open only pages of Beckon.
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...args],
  });
}

/** A new profile, and the faults of its pages. */
export interface Profile {
  readonly context: BrowserContext;
  /**
   * Uncaught errors, errors in the console, violations of the content security policy, and requests
   * to other origins. Grows as they occur.
   */
  readonly faults: readonly string[];
}

/** Creates a profile for pages of `origin`. */
export async function openProfile(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions,
): Promise<Profile> {
  const context = await browser.newContext(options);
  const faults = collectFaults(context, origin);
  context.on("page", waitForRoutes);
  // Writes each violation to the console, because Chromium itself does not do so for all of them.
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile }) =>
      console.error("CSP violation:", violatedDirective, blockedURI, "in", sourceFile))`,
  );
  return { context, faults };
}

/** The files that a test keeps from loading, by profile. */
const missingFiles = new WeakMap<BrowserContext, RegExp>();

/**
 * Lets requests for matching files fail with 404 in all pages of a profile, as after an upgrade.
 * Chromium's errors about them are no faults.
 * @returns the function with which they load again
 */
export async function removeFiles(
  context: BrowserContext,
  url: RegExp,
): Promise<() => Promise<void>> {
  missingFiles.set(context, url);
  await context.route(url, (route) => route.fulfill({ status: 404 }));
  for (const page of context.pages()) await isIntercepted(page);
  return () => context.unroute(url);
}

/** Ends the effect of `removeFiles` on the faults of a profile. */
export function forgetMissingFiles(context: BrowserContext): void {
  missingFiles.delete(context);
}

/** Makes `route` of the page wait until it has an effect. */
function waitForRoutes(page: Page): void {
  const route = page.route.bind(page);
  page.route = async (...given) => {
    const added = await route(...given);
    await isIntercepted(page);
    return added;
  };
}

/**
 * Waits until a request of the page is intercepted. Chromium confirms an interception before a page
 * that is already loaded uses it, so a request directly after it could still reach the server.
 */
async function isIntercepted(page: Page): Promise<void> {
  if (!page.url().startsWith("http")) return;
  const path = "/api/intercepted";
  const context = page.context();
  await context.route(`**${path}`, (route) => route.fulfill({ status: 204 }));
  const status = () =>
    page.evaluate<number>(`fetch("${path}").then(({ status }) => status, () => 0)`).catch(() => 0);
  for (let tries = 0; tries < 100 && (await status()) !== 204; tries++);
  await context.unroute(`**${path}`);
}

/** Returns a list to which the faults of the profile's pages are appended as they occur. */
function collectFaults(context: BrowserContext, origin: string): readonly string[] {
  const faults: string[] = [];
  context.on("weberror", (error) => faults.push(error.error().stack ?? error.error().message));
  context.on("console", (message) => {
    // Chromium logs an error for every response with an error status. Such responses are expected
    // from the API, for example the 401 for a wrong password, and for the icon that Chromium
    // requests for pages that are not HTML. On plain HTTP, Chromium logs that it ignores a header.
    const { url } = message.location();
    const isMissing = missingFiles.get(context)?.test(`${url} ${message.text()}`) === true;
    const isExpected =
      isMissing ||
      (message.text().startsWith("Failed to load resource") &&
        (url.startsWith(`${origin}/api/`) || url === `${origin}/favicon.ico`)) ||
      message.text().startsWith("The Cross-Origin-Opener-Policy header has been ignored");
    const isFault = message.type() === "error" || /Content Security Policy/i.test(message.text());
    if (isFault && !isExpected) faults.push(`${message.text()} (${url})`);
  });
  context.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`requested ${request.url()}`);
  });
  return faults;
}
