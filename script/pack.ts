import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { toJavaScript } from "./pack-source.ts";
import { lockOf } from "./production-lock.ts";

const checkout = resolve(import.meta.dirname, "..");

/**
 * Writes the package of Beckon, with the layout of the checkout, so that paths relative to a source
 * file are the same in both. The dashboard must be built.
 * @param folder of the tarball
 * @returns the path of the tarball
 */
function pack(folder: string): string {
  const parent = mkdtempSync(join(tmpdir(), "beckon-pack-"));
  try {
    const root = join(parent, "package");
    for (const workspace of ["contract", "server"]) packSources(workspace, root);
    cpSync(join(checkout, "web/dist"), join(root, "web/dist"), { recursive: true });
    packManifests(root);
    mkdirSync(join(root, "bin"));
    writeFileSync(join(root, "bin/beckon"), command);
    chmodSync(join(root, "bin/beckon"), 0o755);
    for (const file of ["LICENSE", "README.md", "CHANGELOG.md"])
      copyFileSync(join(checkout, file), join(root, file));
    mkdirSync(folder, { recursive: true });
    const tarball = join(folder, `beckon-${manifestOf(".").version}.tgz`);
    execFileSync("tar", ["-czf", tarball, "-C", parent, "package"]);
    return tarball;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Node.js strips no types below `node_modules`, so the package has JavaScript. */
function packSources(workspace: string, root: string): void {
  const sources = join(checkout, workspace, "src");
  for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.endsWith(".test.ts")) continue;
    const target = join(root, relative(checkout, path));
    mkdirSync(dirname(target), { recursive: true });
    if (!path.endsWith(".ts")) {
      copyFileSync(path, target);
      continue;
    }
    const contract = relative(dirname(path), join(checkout, "contract/src/index.ts"));
    const { code, map } = toJavaScript(readFileSync(path, "utf8"), {
      name: basename(path),
      modules: { "@beckon/contract": contract },
    });
    const script = target.replace(/\.ts$/, ".js");
    writeFileSync(script, code);
    writeFileSync(`${script}.map`, map);
  }
}

function packManifests(root: string): void {
  const { name, version, description, license, type } = manifestOf(".");
  const { dependencies = {}, optionalDependencies = {} } = manifestOf("server");
  const { "@beckon/contract": _, ...packages } = dependencies;
  const manifest = {
    ...{ name, version, description, license, type },
    bin: { beckon: "bin/beckon" },
    engines: { node: ">=24" },
    dependencies: packages,
    optionalDependencies,
  };
  const lock = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));
  writeJson(join(root, "package.json"), manifest);
  // npm uses the versions of this file for `npm install <tarball>` and `npm ci`.
  writeJson(join(root, "npm-shrinkwrap.json"), lockOf(manifest, lock, "server"));
  for (const workspace of ["contract", "server"]) {
    const { name: ownName, version: ownVersion } = manifestOf(workspace);
    writeJson(join(root, workspace, "package.json"), { name: ownName, version: ownVersion, type });
  }
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

function manifestOf(workspace: string): Manifest {
  return JSON.parse(readFileSync(join(checkout, workspace, "package.json"), "utf8"));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * The command `beckon`, with the flags of script/server. npm installs a symbolic link to it in
 * another folder, which `readlink` resolves.
 */
const command = `#!/bin/sh
# Starts Beckon. Settings are environment variables: --help lists them.
set -eu
umask g-w,o-w
case "$(node --version 2>/dev/null)" in
  v2[4-9].* | v[3-9][0-9].*) ;;
  *)
    echo "beckon: Node.js 24 or newer is needed. Install it from https://nodejs.org." >&2
    exit 1
    ;;
esac
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
exec node --disable-warning=ExperimentalWarning --disable-sigusr1 "$root/server/src/supervise.js" "$@"
`;

const [folder = join(checkout, "dist")] = process.argv.slice(2);
console.log(pack(resolve(folder)));
