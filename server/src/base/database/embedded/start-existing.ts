import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "../../log.ts";
import { EmbeddedError } from "./embedded-error.ts";
import { type Embedded, startEmbedded } from "./start-embedded.ts";

/**
 * Starts PostgreSQL on a data folder that contains an installation, without log lines.
 * @throws FolderInUseError if Beckon runs on the folder; EmbeddedError if the folder has no
 *   installation or cannot be read, or PostgreSQL cannot start; the signal's reason on abort.
 */
export async function startExisting(dataDir: string, signal?: AbortSignal): Promise<Embedded> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  // Checked first, because `startEmbedded` would create an installation if there is none.
  if (!(await exists(join(folder, "postgres/PG_VERSION"))) && !(await isElsewhere(folder))) {
    throw new EmbeddedError(
      `${dataDir} contains no installation of Beckon. Set BECKON_DATA_DIR to its data folder, or ` +
        "DATABASE_URL to its external PostgreSQL.",
    );
  }
  const log = createLog("silent");
  return startEmbedded({ dataDir: folder, log, ...(signal === undefined ? {} : { signal }) });
}

/** Returns whether the data folder's cluster is stored elsewhere, in a folder of another user. */
export function isElsewhere(folder: string): Promise<boolean> {
  return exists(join(folder, "postgres.elsewhere"));
}

/**
 * Returns whether the path exists.
 * @throws EmbeddedError if that cannot be read, for example because a parent folder denies access.
 */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new EmbeddedError(
      `${path} cannot be read (${code}). Run this as the user who owns the folder, or name ` +
        "another folder.",
      { cause },
    );
  }
}
