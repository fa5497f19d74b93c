import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

let checkout: string;

/** Writes a file of the checkout. `changedAt` is its modification time, a Unix time in seconds. */
function write(path: string, content: string, changedAt = 1): void {
  writeFileSync(join(checkout, path), content, { mode: 0o755 });
  utimesSync(join(checkout, path), changedAt, changedAt);
}

/** Runs a command in the checkout. Returns whether it ran npm. Node.js and npm are fakes. */
function runsNpm(command: string): boolean {
  const env = { PATH: `${join(checkout, "system")}:/usr/bin:/bin` };
  execFileSync("/bin/sh", ["-c", command], { cwd: checkout, env });
  return existsSync(join(checkout, "npm-was-run"));
}

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "beckon-bootstrap-"));
  onTestFinished(() => rmSync(checkout, { recursive: true }));
  for (const folder of ["system", "script", "node_modules"]) mkdirSync(join(checkout, folder));
  for (const name of ["bootstrap", "backup"])
    copyFileSync(join(import.meta.dirname, name), join(checkout, "script", name));
  write("system/node", "#!/bin/sh\necho v26.10.0\n");
  write("system/npm", `#!/bin/sh\necho "$*" >'${checkout}/npm-was-run'\n`);
  write("package-lock.json", "new", 100);
});

test("npm is run if the lock file was replaced by a newer version with an older time", () => {
  write("node_modules/.package-lock.json", "{}", 200);
  write("node_modules/.beckon-installed", "old", 201);
  expect(runsNpm(". script/bootstrap")).toBe(true);
});

test("npm installs all packages, also with NODE_ENV=production: the dashboard is built here", () => {
  expect(runsNpm(". script/bootstrap")).toBe(true);
  const args = readFileSync(join(checkout, "npm-was-run"), "utf8").split(" ");
  expect(args).toEqual(expect.arrayContaining(["ci", "--include=dev", "--include=optional"]));
});

test("npm is not run if it was run by hand after the lock file was changed", () => {
  write("node_modules/.beckon-installed", "old", 50);
  write("node_modules/.package-lock.json", "{}", 101);
  expect(runsNpm(". script/bootstrap")).toBe(false);
});

test("a backup does not run npm, because Beckon can be running on the packages", () => {
  write("node_modules/.beckon-installed", "old");
  expect(runsNpm("script/backup folder")).toBe(false);
});
