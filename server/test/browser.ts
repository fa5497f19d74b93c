import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** A Chromium of this machine: the one in `CHROMIUM`, or a packaged one. Undefined: it has none, and what needs one is skipped. */
export const browserPath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));

let opened: Promise<Browser> | undefined;

/** A page in a profile of its own. What it asks of another address than `origin`, and every complaint of its policy, fails the test. */
export async function openBrowserPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  opened ??= chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    // Chromium's own sandbox does not start for root, as which a container runs; what it opens here is ours.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const browser = await opened;
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on(
    "console",
    (message) => /Content Security Policy/i.test(message.text()) && faults.push(message.text()),
  );
  page.on(
    "request",
    (request) => new URL(request.url()).origin !== origin && faults.push(`asked ${request.url()}`),
  );
  onTestFinished(async () => {
    await context.close();
    if (faults.length > 0) throw new Error(faults.join("\n"));
  });
  return page;
}

/** At the end of a file that has opened pages. */
export async function closeBrowser(): Promise<void> {
  await (await opened)?.close();
}
