import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = resolve(import.meta.dirname, "..");

/** The versions that eventsource-parser requires. The client itself requires less. */
const engines = { node: ">=22.12" };

/**
 * Builds the package of the client for publishing: JavaScript files, type declarations and a
 * package.json that exports them. TypeScript files are not published, because runtimes do not strip
 * types in `node_modules`. Dependencies are not bundled.
 * @param folder The output folder, which is deleted first.
 * @throws Error if the client does not compile.
 */
export function packClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const tsc = join(checkout, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(
    tsc,
    ["-p", join(checkout, "client/tsconfig.build.json"), "--outDir", folder],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`the client does not compile:\n${stdout}`);
  const { private: _, ...described } = JSON.parse(
    readFileSync(join(checkout, "client/package.json"), "utf8"),
  ) as Record<string, unknown>;
  const exports = { ".": { types: "./index.d.ts", default: "./index.js" } };
  writeFileSync(
    join(folder, "package.json"),
    `${JSON.stringify({ ...described, engines, exports, sideEffects: false }, null, 2)}\n`,
  );
  // The package does not contain the files outside of `client` to which the README links.
  const readme = readFileSync(join(checkout, "client/README.md"), "utf8");
  writeFileSync(join(folder, "README.md"), readme.replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]+\)/g, "$1"));
  copyFileSync(join(checkout, "LICENSE"), join(folder, "LICENSE"));
}

/**
 * Writes a package that `packClient` has built as a tarball. npm copies a tarball into a project,
 * but only links a folder, which breaks when the checkout is moved or built again.
 * @param built The folder of the package.
 * @param folder The folder in which the tarball is written.
 * @returns The path of the tarball.
 */
export function writeTarball(built: string, folder: string): string {
  const { version } = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
  const parent = mkdtempSync(join(tmpdir(), "beckon-client-"));
  try {
    cpSync(built, join(parent, "package"), { recursive: true });
    mkdirSync(folder, { recursive: true });
    const tarball = join(folder, `beckon-client-${version}.tgz`);
    execFileSync("tar", ["-czf", tarball, "-C", parent, "package"]);
    return tarball;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Usage: node script/client-package.ts, then install the tarball, or npm publish client/dist. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const built = join(checkout, "client/dist");
  packClient(built);
  console.log(relative(process.cwd(), writeTarball(built, join(checkout, "dist"))));
}
