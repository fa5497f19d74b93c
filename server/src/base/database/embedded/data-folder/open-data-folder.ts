import { access, constants, mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { isReachable } from "../exists.ts";
import { syncFolder } from "../sync-folder.ts";

/**
 * Creates the data folder (mode 0700) if it does not exist, syncs its parent, and returns its real
 * path, so that later comparisons of paths are reliable.
 * @throws EmbeddedError if the folder cannot be created or written, or its path has a newline.
 */
export async function openDataFolder(path: string): Promise<string> {
  rejectNewline(path);
  try {
    await createFolder(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const real = await realpath(path);
    rejectNewline(real);
    return real;
  } catch (cause) {
    if (cause instanceof EmbeddedError) throw cause;
    throw new EmbeddedError(
      `The data folder ${path} cannot be used: ${messageOf(cause)}. ${dataFolderRemedy(cause)}`,
      { cause },
    );
  }
}

/** Returns how to make a data folder usable that cannot be written because of this error. */
export function dataFolderRemedy(thrown: unknown): string {
  const isReadOnly = thrown instanceof Error && "code" in thrown && thrown.code === "EROFS";
  return isReadOnly
    ? "It is read-only here, for example by ProtectSystem= of systemd or --read-only of Docker: " +
        "add it to ReadWritePaths= of the unit, mount a volume there, or set BECKON_DATA_DIR to " +
        "another folder."
    : "Make it writable for this user, or set BECKON_DATA_DIR to another folder.";
}

/**
 * @throws EmbeddedError if the path has a newline. PostgreSQL writes the path as one line of
 *   `postmaster.pid`, so a newline would break that file.
 */
function rejectNewline(path: string): void {
  if (!path.includes("\n")) return;
  throw new EmbeddedError(
    `The data folder's path ${JSON.stringify(path)} contains a newline, which PostgreSQL does ` +
      "not support. Set BECKON_DATA_DIR to another folder.",
  );
}

/**
 * Creates a folder and its missing parents. After creating each, syncs the folder that contains it,
 * so that the new entry is durable. Does not use `recursive: true` of `mkdir`, which loops forever
 * if a parent cannot be created (for example in /proc).
 */
async function createFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path || (await isReachable(dirname(path))))
      throw cause;
    await createFolder(dirname(path));
    await mkdir(path, 0o700);
  }
  await syncFolder(dirname(path));
}
