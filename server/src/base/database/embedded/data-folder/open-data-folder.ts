import { access, constants, mkdir, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf } from "../../../errors.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { syncFolder } from "../sync-folder.ts";

/**
 * Creates the data folder (0700) where it is absent, makes its name durable, and returns its real path, so that every later
 * comparison of paths compares the same thing.
 * @throws EmbeddedError when it cannot be created or written, or PostgreSQL cannot take its name.
 */
export async function openDataFolder(path: string): Promise<string> {
  refuseNewline(path);
  try {
    await makeFolder(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const real = await realpath(path);
    refuseNewline(real);
    return real;
  } catch (cause) {
    if (cause instanceof EmbeddedError) throw cause;
    throw new EmbeddedError(
      `The data folder ${path} cannot be used: ${messageOf(cause)}. Make it writable for this user, or name another one with BECKON_DATA_DIR.`,
      { cause },
    );
  }
}

/** PostgreSQL writes the path as one line of its `postmaster.pid`. */
function refuseNewline(path: string): void {
  if (!path.includes("\n")) return;
  throw new EmbeddedError(
    `The data folder's path ${JSON.stringify(path)} has a newline in it, which PostgreSQL cannot take. Name another folder with BECKON_DATA_DIR.`,
  );
}

/** With its parents, each made durable. Step by step: where a parent cannot be made (/proc/x), Node's recursive kind tries for ever. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path || (await exists(dirname(path)))) throw cause;
    await makeFolder(dirname(path));
    await mkdir(path, 0o700);
  }
  await syncFolder(dirname(path));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
