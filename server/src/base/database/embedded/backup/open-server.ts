import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { FolderInUseError } from "../data-folder/index.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { exists } from "../exists.ts";
import { choosePlacement, type Placement } from "../placement/index.ts";
import { readPostmasterFile } from "../server/index.ts";
import { startExisting } from "../start-existing.ts";
import { NotNowError } from "./not-now-error.ts";

/** The PostgreSQL that a backup reads. It runs on the data folder and listens in `socketDir`. */
export interface OpenServer {
  readonly socketDir: string;
  /** Folder of its files. */
  readonly cluster: string;
  /** Stops PostgreSQL if `openServer` has started it. */
  close(): Promise<void>;
}

/**
 * Returns the PostgreSQL of the Beckon that runs on the data folder. If none runs, starts
 * PostgreSQL and keeps the folder locked until `close`.
 * @throws EmbeddedError if the folder has no installation or cannot be read, or PostgreSQL cannot
 *   start, or its socket cannot be used; NotNowError if the running PostgreSQL has no socket yet.
 */
export async function openServer(dataDir: string, signal?: AbortSignal): Promise<OpenServer> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  try {
    const { socketDir, elsewhere, stop } = await startExisting(dataDir, signal);
    return { socketDir, cluster: join(elsewhere ?? folder, "postgres"), close: () => stop() };
  } catch (thrown) {
    if (!(thrown instanceof FolderInUseError)) throw thrown;
  }
  const placement = await choosePlacement(folder);
  const cluster = join(placement.home, "postgres");
  const socketDir = await findSocketFolder(placement, cluster);
  return { socketDir, cluster, close: async () => {} };
}

/**
 * Returns the folder of the running PostgreSQL's socket, as PostgreSQL recorded it. It is not
 * computed as at startup, because Beckon can have another TMPDIR than this process.
 */
async function findSocketFolder({ owner }: Placement, cluster: string): Promise<string> {
  const path = (await readPostmasterFile(cluster))?.socketDir;
  if (path === undefined) {
    throw new NotNowError(
      "PostgreSQL of the running Beckon is not ready for a backup. Try again in a moment.",
    );
  }
  const socket = join(path, ".s.PGSQL.5432");
  if (!(await exists(socket))) {
    throw new EmbeddedError(
      `The socket of the running Beckon, ${socket}, does not exist here: Beckon has a temporary ` +
        "directory of its own, for example by PrivateTmp=yes in its systemd unit. Restart it " +
        "with TMPDIR set to a folder that this command can see too, or stop it for the backup.",
    );
  }
  // Another user could have created a folder of this name, with a PostgreSQL of their own.
  const uid = owner?.uid ?? process.geteuid?.() ?? 0;
  const folder = await lstat(path);
  if (!folder.isDirectory() || folder.uid !== uid)
    throw new EmbeddedError(`${path} is not a folder of user ${uid}. Restart Beckon.`);
  return path;
}
