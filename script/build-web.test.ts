import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
let checkout: string;

/**
 * Takes the place of script/build-web.ts, which takes many seconds. It counts the builds, and
 * stores the list of sources as the real one does.
 */
const fakeBuild = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
mkdirSync("web/dist", { recursive: true });
writeFileSync("web/dist/.sources", readFileSync(0));
appendFileSync("builds", "x");
`;

const write = (path: string, content: string) => writeFileSync(join(checkout, path), content);

/** Runs script/build-web. Returns how often the dashboard has been built until then. */
function buildsAfterCall(): number {
  const env = { PATH: `${resolve(process.execPath, "..")}:/usr/bin:/bin` };
  execFileSync(join(checkout, "script/build-web"), { env, stdio: "pipe" });
  return readFileSync(join(checkout, "builds"), "utf8").length;
}

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "beckon-build-web-"));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  for (const folder of ["script", "web/src", "web/public", "client/src", "contract/src"])
    mkdirSync(join(checkout, folder), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  for (const file of ["package-lock.json", "script/bootstrap", "script/build-web"])
    copyFileSync(join(root, file), join(checkout, file));
  for (const file of ["web/index.html", "web/package.json", "web/vite.config.ts"]) write(file, "");
  write("web/src/main.tsx", "first");
  write("script/build-web.ts", fakeBuild);
});

test("the dashboard is built once, and again only if a source has another content", () => {
  expect(buildsAfterCall()).toBe(1);
  expect(buildsAfterCall()).toBe(1);
  // Unpacking a checkout sets the times of its files.
  utimesSync(join(checkout, "web/src/main.tsx"), 1, 1);
  expect(buildsAfterCall()).toBe(1);
  write("web/src/main.tsx", "other");
  expect(buildsAfterCall()).toBe(2);
  expect(buildsAfterCall()).toBe(2);
});

test("the dashboard is built again if a source is added or removed, but not for a test", () => {
  expect(buildsAfterCall()).toBe(1);
  write("contract/src/runs.test.ts", "");
  expect(buildsAfterCall()).toBe(1);
  write("contract/src/runs.ts", "");
  expect(buildsAfterCall()).toBe(2);
  rmSync(join(checkout, "contract/src/runs.ts"));
  expect(buildsAfterCall()).toBe(3);
});
