import { access, constants, mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../errors.ts";
import { EmbeddedError } from "./embedded-error.ts";
import { syncFolder } from "./sync-folder.ts";

/**
 * Creates the data folder (0700) where it is absent, makes its name durable, and returns its real path, so that every later
 * comparison of paths compares the same thing.
 * @throws EmbeddedError when it cannot be created or written.
 */
export async function openDataFolder(path: string): Promise<string> {
  try {
    // On a read-only file system the recursive kind says ENOENT; the plain one says why.
    const topmost = await mkdir(path, { recursive: true, mode: 0o700 }).catch(() => mkdir(path, 0o700));
    if (typeof topmost === "string") {
      for (let at = path; at.length >= topmost.length; at = dirname(at)) await syncFolder(dirname(at));
    }
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(path);
  } catch (cause) {
    throw new EmbeddedError(
      `The data folder ${path} cannot be used: ${messageOf(cause)}. Make it writable for this user, or name another one with BECKON_DATA_DIR.`,
      { cause },
    );
  }
}
