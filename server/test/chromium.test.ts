import { expect, test } from "vitest";
import { findBrowser } from "./chromium.ts";

/** Finds Chromium on a machine that has only these files. */
const findIn = (files: readonly string[], env: NodeJS.ProcessEnv) =>
  findBrowser(env, (path) => files.includes(path));

test("Chromium is found in every folder of PATH, and the headless shell takes precedence", () => {
  const env = { PATH: "/usr/bin:/snap/bin" };
  expect(findIn(["/snap/bin/chromium"], env)).toBe("/snap/bin/chromium");
  const shell = "/usr/lib/chromium/chromium-headless-shell";
  expect(findIn(["/usr/bin/chromium", shell], env)).toBe(shell);
  expect(findIn([], env)).toBeUndefined();
});

test("the file in CHROMIUM is used, and a missing one is an error", () => {
  const env = { CHROMIUM: "/opt/chromium", PATH: "/usr/bin" };
  expect(findIn(["/usr/bin/chromium", "/opt/chromium"], env)).toBe("/opt/chromium");
  expect(() => findIn(["/usr/bin/chromium"], env)).toThrow(
    "CHROMIUM is /opt/chromium, which does not exist.",
  );
});
