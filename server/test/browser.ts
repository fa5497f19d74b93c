import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/**
 * Path of Chromium: that in `CHROMIUM`, or an installed package. Undefined if there is none;
 * browser tests are then skipped.
 */
export const browserPath = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));

let opened: Promise<Browser> | undefined;

/**
 * Opens a page in a new profile. Requests to other origins than `origin` and violations of the
 * content security policy fail the test.
 */
export async function openBrowserPage(
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  opened ??= chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    // Chromium's sandbox does not start as root (as in a container). Only our own pages are opened.
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

/** Closes the browser; call it at the end of a file that opens pages. */
export async function closeBrowser(): Promise<void> {
  await (await opened)?.close();
}
