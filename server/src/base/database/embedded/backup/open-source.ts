import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "../../../log.ts";
import { FolderInUseError, openSocketFolder } from "../data-folder/index.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { choosePlacement } from "../placement/index.ts";
import { startEmbedded } from "../start-embedded.ts";

/** The PostgreSQL that a backup reads. It runs on the data folder and listens in `socketDir`. */
export interface Source {
  readonly socketDir: string;
  /** Stops PostgreSQL if `openSource` has started it. */
  close(): Promise<void>;
}

/**
 * Returns the PostgreSQL of the Beckon that runs on the data folder. If none runs, starts
 * PostgreSQL and keeps the folder locked until `close`.
 * @throws EmbeddedError if the folder has no installation or cannot be read, or PostgreSQL cannot
 *   start.
 */
export async function openSource(dataDir: string, signal?: AbortSignal): Promise<Source> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  // Checked first, because `startEmbedded` would create an installation if there is none.
  if (!(await exists(join(folder, "postgres/PG_VERSION"))) && !(await isElsewhere(folder))) {
    throw new EmbeddedError(
      `${dataDir} contains no installation of Beckon. Set BECKON_DATA_DIR to its data folder.`,
    );
  }
  try {
    const { socketDir, stop } = await startEmbedded({
      dataDir: folder,
      log: createLog("silent"),
      ...(signal === undefined ? {} : { signal }),
    });
    return { socketDir, close: () => stop() };
  } catch (thrown) {
    if (!(thrown instanceof FolderInUseError)) throw thrown;
  }
  const placement = await choosePlacement(folder);
  return { socketDir: await openSocketFolder({ placement, folder }), close: async () => {} };
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
