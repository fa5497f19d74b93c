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

const lock = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8"));

/** The workspaces that the package contains. */
const workspaces = ["contract", "server", "client", "cli"] as const;

/** Names by which sources import other workspaces, and the file that each name stands for. */
const entries: Readonly<Record<string, string>> = {
  "@beckon/contract": "contract/src/index.ts",
  "@beckon/client": "client/src/index.ts",
  "@beckon/server/start": "server/src/supervise.ts",
  "@beckon/server/backup": "server/src/backup/index.ts",
  "@beckon/server/diagnose": "server/src/diagnose/index.ts",
};

/**
 * Other files and folders that the package contains. Those that Beckon does not serve are documents
 * and what they link to. `deploy` is not copied as a whole, because secrets of compose.yaml can be
 * beside that file.
 */
const others = [
  ...["LICENSE", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"],
  "client/README.md",
  "web/dist",
  "docs",
  ...["caddy", "grafana", "nginx", "prometheus", "systemd", "Dockerfile", "compose.yaml"].map(
    (each) => `deploy/${each}`,
  ),
];

/**
 * Writes the package of Beckon, with the layout of the checkout, so that paths relative to a source
 * file are the same in both. The dashboard must be built.
 * @param folder in which the tarball is written
 * @returns the path of the tarball
 */
function pack(folder: string): string {
  const parent = mkdtempSync(join(tmpdir(), "beckon-pack-"));
  try {
    const root = join(parent, "package");
    for (const workspace of workspaces) packSources(workspace, root);
    for (const each of others) cpSync(join(checkout, each), join(root, each), { recursive: true });
    packManifests(root);
    mkdirSync(join(root, "bin"));
    copyFileSync(join(checkout, "script/packed-beckon"), join(root, "bin/beckon"));
    chmodSync(join(root, "bin/beckon"), 0o755);
    mkdirSync(folder, { recursive: true });
    const tarball = join(folder, `beckon-${manifestOf(".").version}.tgz`);
    execFileSync("tar", ["-czf", tarball, "-C", parent, "package"]);
    return tarball;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/**
 * Writes the sources of a workspace as JavaScript, because Node.js strips no types below
 * `node_modules`.
 */
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
    const modules = Object.fromEntries(
      Object.entries(entries).map(([name, file]) => {
        const from = relative(dirname(path), join(checkout, file));
        return [name, from.startsWith(".") ? from : `./${from}`];
      }),
    );
    for (const name of Object.keys(manifestOf(workspace).dependencies ?? {}))
      if (hasAlias(name, workspace)) modules[name] = aliasOf(name, workspace);
    const { code, map } = toJavaScript(readFileSync(path, "utf8"), {
      name: basename(path),
      modules,
    });
    const script = target.replace(/\.ts$/, ".js");
    writeFileSync(script, code);
    writeFileSync(`${script}.map`, map);
  }
}

function packManifests(root: string): void {
  const { name, version, description, license, type, optionalDependencies } = manifestOf(".");
  const dependencies: Record<string, string> = {};
  // The optional packages of the root contain Node.js 26. Systems need it if Beckon does not run on
  // their own version of Node.js.
  const optional = { ...optionalDependencies };
  const origins = new Map<string, { name: string; workspace: string }>();
  for (const workspace of workspaces) {
    const own = manifestOf(workspace);
    writeJson(join(root, workspace, "package.json"), {
      ...{ name: own.name, version: own.version, type },
    });
    for (const [each, needed] of Object.entries(own.dependencies ?? {})) {
      if (each.startsWith("@beckon/")) continue;
      const isAlias = hasAlias(each, workspace);
      const installed = isAlias ? aliasOf(each, workspace) : each;
      dependencies[installed] = isAlias ? `npm:${each}@${needed}` : needed;
      origins.set(installed, { name: each, workspace });
    }
    for (const [each, needed] of Object.entries(own.optionalDependencies ?? {})) {
      optional[each] = needed;
      origins.set(each, { name: each, workspace });
    }
  }
  const manifest = {
    ...{ name, version, description, license, type },
    bin: { beckon: "bin/beckon" },
    engines: { node: ">=20" },
    dependencies: sorted(dependencies),
    optionalDependencies: sorted(optional),
  };
  writeJson(join(root, "package.json"), manifest);
  // npm uses the versions of this file for `npm install <tarball>`, `npx <tarball>` and `npm ci`.
  writeJson(
    join(root, "npm-shrinkwrap.json"),
    lockOf(manifest, lock, (name) => origins.get(name) ?? { name, workspace: "." }),
  );
}

/**
 * Returns whether the published package refers to a workspace's dependency by an alias. Its single
 * `node_modules` has one version per name. If the lock file has a dependency in the workspace's own
 * `node_modules`, the `node_modules` of the root has another version, so the workspace's version
 * gets an alias. The server's dependencies never get one, because some of them import themselves by
 * their own name.
 */
function hasAlias(name: string, workspace: string): boolean {
  return workspace !== "server" && `${workspace}/node_modules/${name}` in lock.packages;
}

function aliasOf(name: string, workspace: string): string {
  return `${name}-of-${workspace}`;
}

function sorted(packages: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
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

const [folder = join(checkout, "dist")] = process.argv.slice(2);
console.log(pack(resolve(folder)));
