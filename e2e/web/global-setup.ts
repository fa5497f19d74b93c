import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { browserPath } from "../../server/test/chromium.ts";

/**
 * Builds the dashboard once before all tests, if it is outdated, and says if the browser tests are
 * skipped.
 */
export function setup(): void {
  if (browserPath === undefined)
    console.log("Chromium is not installed, so tests in a browser are skipped.");
  execFileSync(resolve(import.meta.dirname, "../../script/build-web"), { stdio: "inherit" });
}
