import { createHash } from "node:crypto";
import { chown, type FileHandle, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../../errors.ts";
import {
  lockDataFolder,
  openDataFolder,
  removeUnfinished,
  unfinishedCluster,
} from "../data-folder/index.ts";
import { isDiskFull } from "../disk-full.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { exists } from "../exists.ts";
import {
  choosePlacement,
  hasHomeRecord,
  homeRecordOf,
  homeUnderAnotherUser,
  type Placement,
  programIn,
  recordHome,
} from "../placement/index.ts";
import { runCommand } from "../run-command.ts";
import { syncFolder, syncTree } from "../sync-folder.ts";
import type { BackupFile } from "./backup-file.ts";
import { checkSpace } from "./check-space.ts";

/** Time limit of the recovery, long enough to replay much WAL on a slow disk. */
const recoverWithinMs = 3_600_000;

/**
 * Restores a backup into a data folder without an installation, and lets PostgreSQL replay the WAL
 * of the backup. Every file is compared with its checksum. The cluster gets its final name after
 * all of this has succeeded, so a killed restore leaves no cluster under that name. The next
 * restore or startup removes the files that the killed restore copied.
 * @param options `backupDir`: the folder of the backup. `backup`: the description in it. `sql`:
 *   statements to execute in the database before the cluster gets its final name; must end with a
 *   semicolon. `prepare`: called after `sql`, also before the final name. `signal` cancels the
 *   restore.
 * @throws EmbeddedError if the target contains an installation, Beckon runs on it, there is not
 *   enough space, or the backup is incomplete, damaged or from another major version of PostgreSQL;
 *   the signal's reason on abort.
 */
export async function restoreCluster({
  backupDir,
  backup,
  dataDir,
  sql,
  prepare = async () => {},
  signal,
}: {
  readonly backupDir: string;
  readonly backup: BackupFile;
  readonly dataDir: string;
  readonly sql: string;
  readonly prepare?: () => Promise<void>;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const folder = await openDataFolder(dataDir);
  const lock = lockDataFolder(folder);
  try {
    if (await hasHomeRecord(folder)) {
      const elsewhere = join(await homeUnderAnotherUser(folder), "postgres");
      throw alreadyThere(folder, `${homeRecordOf(folder)} and ${elsewhere}`);
    }
    const placement = await choosePlacement(folder);
    const { home, binaries } = placement;
    const cluster = join(home, "postgres");
    if ((await exists(cluster)) && (await readdir(cluster)).length > 0)
      throw alreadyThere(folder, cluster);
    rejectOtherVersion(backup, binaries.version);
    // Removed first, so that a repeated restore has the space that a killed one has used.
    await removeUnfinished(home);
    checkSpace(home, backup.bytes);
    const fresh = unfinishedCluster(home);
    try {
      await copyFiles({ backupDir, backup, fresh, signal });
      await giveTo(placement, fresh);
      await recover({ placement, fresh, sql, signal });
      await prepare();
      await rename(fresh, cluster);
      await syncFolder(home);
      if (home !== folder) await recordHome(folder, home);
    } catch (thrown) {
      signal?.throwIfAborted();
      throw explain(thrown, folder);
    } finally {
      await rm(fresh, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  } finally {
    lock.release();
  }
}

function alreadyThere(folder: string, paths: string): EmbeddedError {
  return new EmbeddedError(
    `${folder} already contains an installation. Nothing was changed. Set BECKON_DATA_DIR to a new ` +
      `folder, or move ${paths} away first.`,
  );
}

function rejectOtherVersion(backup: BackupFile, version: string): void {
  const [ours] = version.split(".");
  const [theirs] = backup.postgresql.split(".");
  if (theirs === ours) return;
  throw new EmbeddedError(
    `The backup was made by PostgreSQL ${theirs}; this Beckon contains PostgreSQL ${ours}. Restore ` +
      `it with the Beckon that created it (${backup.beckon}).`,
  );
}

async function copyFiles({
  backupDir,
  backup,
  fresh,
  signal,
}: {
  readonly backupDir: string;
  readonly backup: BackupFile;
  readonly fresh: string;
  readonly signal: AbortSignal | undefined;
}): Promise<void> {
  await mkdir(fresh, { mode: 0o700 });
  for (const path of backup.folders)
    await mkdir(join(fresh, path), { recursive: true, mode: 0o700 });
  for (const file of backup.files) {
    signal?.throwIfAborted();
    const path = join(backupDir, "postgres", file.path);
    await mkdir(dirname(join(fresh, file.path)), { recursive: true, mode: 0o700 });
    // A symbolic link is rejected, because it could lead to a file outside the backup.
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile() !== true) throw damaged(path, "is missing");
    const copied = await copyFile(path, join(fresh, file.path));
    if (copied.bytes !== file.bytes)
      throw damaged(path, `has ${copied.bytes} bytes instead of ${file.bytes}`);
    if (copied.sha256 !== file.sha256) throw damaged(path, "has another checksum");
  }
}

function damaged(path: string, what: string): EmbeddedError {
  return new EmbeddedError(
    `The backup is incomplete or damaged: ${path} ${what}. Nothing was restored. Use another backup.`,
  );
}

const chunkBytes = 1024 * 1024;

async function copyFile(from: string, to: string): Promise<{ bytes: number; sha256: string }> {
  const source = await open(from, "r");
  try {
    const target = await open(to, "wx", 0o600);
    try {
      return await copyContent(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyContent(
  source: FileHandle,
  target: FileHandle,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, chunkBytes);
    if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
    const part = chunk.subarray(0, bytesRead);
    hash.update(part);
    await target.writeFile(part);
    bytes += bytesRead;
  }
}

async function giveTo({ owner }: Placement, folder: string): Promise<void> {
  if (owner === undefined) return;
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const { parentPath, name } of entries)
    await chown(join(parentPath, name), owner.uid, owner.gid);
  await chown(folder, owner.uid, owner.gid);
}

/**
 * Lets PostgreSQL replay the WAL of the backup, executes `sql` and syncs all files. In single-user
 * mode no other process can connect.
 */
async function recover({
  placement,
  fresh,
  sql,
  signal,
}: {
  readonly placement: Placement;
  readonly fresh: string;
  readonly sql: string;
  readonly signal: AbortSignal | undefined;
}): Promise<void> {
  const args = ["--single", "-F", "-j", "-D", fresh, "-c", "exit_on_error=on", "beckon"];
  await runCommand(programIn(placement, "postgres", args), {
    timeoutMs: recoverWithinMs,
    signal,
    input: `${sql}\n\n`,
  });
  await syncTree(fresh);
}

function explain(thrown: unknown, folder: string): Error {
  if (isDiskFull(thrown) || /no space left/i.test(messageOf(thrown))) {
    return new EmbeddedError(
      `The disk became full. Nothing was left in ${folder}. Free some space, or set ` +
        "BECKON_DATA_DIR to another folder.",
      { cause: thrown },
    );
  }
  if (thrown instanceof EmbeddedError) return thrown;
  return new EmbeddedError(`The backup cannot be restored into ${folder}: ${messageOf(thrown)}.`, {
    cause: thrown,
  });
}
