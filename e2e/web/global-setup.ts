import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

/** Builds the dashboard once before all tests, if it is outdated. */
export function setup(): void {
  execFileSync(resolve(import.meta.dirname, "../../script/build-web"), { stdio: "inherit" });
}
