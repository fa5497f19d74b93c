import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";

/** The right to use a data folder. It ends with `release`, or with the process, however that dies. */
export interface FolderLock {
  release(): void;
}

const busy = 5;

/** Keeps what is locked reachable: a collected database closes its file, and the lock is gone while its owner lives on. */
const held = new Set<DatabaseSync>();

/**
 * Takes the folder's lock or refuses at once.
 *
 * The lock must be the kernel's: it dies with a process that was killed, so there is never a stale one to break and nothing for
 * two starters to race for. Node has no flock; SQLite, which Node carries, takes fcntl locks on the file that it opens, so an
 * open exclusive transaction on an empty database is exactly such a lock. Nothing is ever written to it.
 * Rejected: a pid file (breaking a stale one races), a listening socket in the folder (the same, and its path has 100 bytes),
 * an abstract socket (Linux only, not seen by another container on the same volume), the `flock` command (not on macOS).
 * @throws EmbeddedError naming the process that holds it.
 */
export function lockDataFolder(folder: string): FolderLock {
  const path = join(folder, "lock");
  const holder = join(folder, "lock.pid");
  try {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      database.exec("pragma journal_mode = memory; begin exclusive");
      // A reader's shared lock would keep us out, so nobody else may open the file. Not by opening it here: closing any
      // descriptor of a file drops all fcntl locks that the process has on it.
      chmodSync(path, 0o600);
      writeFileSync(holder, `${process.pid}\n`);
      // Not as an option of the write, which leaves the mode of a file that exists.
      chmodSync(holder, 0o600);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
    held.add(database);
    return {
      release: () => {
        if (held.delete(database)) database.close();
      },
    };
  } catch (cause) {
    if (isBusy(cause)) {
      throw new EmbeddedError(
        `Another Beckon${pidIn(holder)} is running on the data folder ${folder}. Stop it first, or name another folder with BECKON_DATA_DIR.`,
      );
    }
    throw new EmbeddedError(
      `The data folder ${folder} cannot be locked: ${messageOf(cause)}. It must be on a file system that supports locks.`,
      { cause },
    );
  }
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && "errcode" in thrown && thrown.errcode === busy;
}

/** For the message only; nothing is ever decided by this file. */
function pidIn(path: string): string {
  try {
    const pid = readFileSync(path, "utf8").trim();
    return pid === "" ? "" : ` (process ${pid})`;
  } catch {
    return "";
  }
}
