import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

/**
 * Runs the script on a machine that has only nginx and Git. Its apt-get knows all packages except
 * `unknown`. Returns which packages it was asked to install.
 */
function installPrograms(unknown: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const bin = mkdtempSync(join(tmpdir(), "beckon-programs-"));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  const program = (name: string, text: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const name of ["nginx", "git"]) program(name, "");
  program("id", "echo 0");
  program(
    "apt-get",
    `for package; do :; done
[ "$package" = update ] && exit 0
echo "$package" >>${bin}/asked
case " ${unknown.join(" ")} " in *" $package "*) exit 100 ;; esac
case $package in procps) name=ps ;; postgresql-client) name=psql ;; *) name=$package ;; esac
echo >${bin}/$name
/bin/chmod +x ${bin}/$name`,
  );
  const { status, stderr } = spawnSync(join(import.meta.dirname, "install-programs"), {
    env: { PATH: bin, ...env },
    encoding: "utf8",
  });
  return { status, stderr, asked: readFileSync(join(bin, "asked"), "utf8").trim().split("\n") };
}

const packages = ["caddy", "curl", "fish", "openssl", "procps", "postgresql-client", "python3"];

test("missing programs are installed, and Chromium only if CHROMIUM names none", () => {
  const { status, asked } = installPrograms([]);
  expect(asked).toEqual([...packages, "zsh", "chromium-headless-shell"]);
  expect(status).toBe(0);
  const other = installPrograms([], { CHROMIUM: "/opt/chromium" });
  expect(other.asked).toEqual([...packages, "zsh"]);
});

test("a package that the distribution lacks does not keep the others from being installed", () => {
  const { status, asked, stderr } = installPrograms(["caddy", "chromium-headless-shell"]);
  expect(asked).toEqual([...packages, "zsh", "chromium-headless-shell", "chromium"]);
  expect(status).toBe(1);
  expect(stderr).toContain("not installed: caddy;");
});
