import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";

/**
 * An exclusive lock on a data folder. It ends with `release` or when the process ends, even if the
 * process is killed.
 */
export interface FolderLock {
  release(): void;
}

/** Another process holds the lock of the data folder. */
export class FolderInUseError extends EmbeddedError {}

const sqliteBusy = 5;

/**
 * The open databases. Without this reference, garbage collection of a database would close its
 * file, and the lock would be lost.
 */
const held = new Set<DatabaseSync>();

/**
 * Locks the folder without waiting.
 *
 * The kernel must hold the lock, because the kernel releases it when the process is killed. So no
 * stale lock has to be removed, and two startups cannot race. Node has no `flock`, but its SQLite
 * takes fcntl locks on the file that it opens. An open exclusive transaction on an empty SQLite
 * database is therefore such a lock. Nothing is written to that database.
 *
 * Rejected: a pid file, because two processes that both remove a stale file race; a listening
 * socket in the folder, for the same reason and because its path is limited to 100 bytes; an
 * abstract socket, which exists only on Linux and is invisible to another container on the same
 * volume; the `flock` command, which macOS lacks.
 * @throws FolderInUseError if another process holds the lock. The message contains the pid of that
 *   process, if it could be recorded.
 * @throws EmbeddedError if the folder cannot be locked, for example on a file system without locks.
 */
export function lockDataFolder(folder: string): FolderLock {
  const path = join(folder, "lock");
  const holder = join(folder, "lock.pid");
  try {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec("pragma journal_mode = memory; begin exclusive");
      // Mode 0600, because a user who could open the file could block our lock with a shared lock.
      // `fchmod` is not used, because it needs another descriptor of the file. When any descriptor
      // of a file is closed, all fcntl locks of the process on this file are released.
      chmodSync(path, 0o600);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
    recordHolder(holder);
    held.add(database);
    return {
      release: () => {
        if (held.delete(database)) database.close();
      },
    };
  } catch (cause) {
    if (isBusy(cause)) {
      throw new FolderInUseError(
        `Another Beckon${pidIn(holder)} is running on the data folder ${folder}. Stop it ` +
          "first, or set BECKON_DATA_DIR to another folder.",
      );
    }
    throw new EmbeddedError(
      `The data folder ${folder} cannot be locked: ${messageOf(cause)}. Move it to a file ` +
        "system that supports locks.",
      { cause },
    );
  }
}

/**
 * Writes the pid of this process to the file. If this fails, for example because the disk is full,
 * only the message for another process lacks the pid.
 */
function recordHolder(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`);
    // The option `mode` of `writeFileSync` would not change the mode of an existing file.
    chmodSync(path, 0o600);
  } catch {}
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && thrown.errcode === sqliteBusy;
}

/**
 * Returns the pid in the file, in parentheses; empty if there is none. It is used only in the error
 * message.
 */
function pidIn(path: string): string {
  try {
    const pid = readFileSync(path, "utf8").trim();
    return pid === "" ? "" : ` (process ${pid})`;
  } catch {
    return "";
  }
}
