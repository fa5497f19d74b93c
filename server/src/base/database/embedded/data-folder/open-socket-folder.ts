import { chmod, chown, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { hashOf, type Placement } from "../placement/index.ts";

/**
 * Maximum bytes of a socket path. The kernel's limit for `sockaddr_un` is 104 on macOS and 108 on
 * Linux.
 */
const maxPathBytes = 100;

/**
 * Creates the socket's folder (mode 0700) and returns its path. The folder is in `placement.home`,
 * or in the temporary directory if PostgreSQL cannot use a path in `placement.home`. Anyone who can
 * enter the folder can connect without a password, so an existing folder of another user is not
 * used.
 * @throws EmbeddedError if neither path can be used, or the folder belongs to another user.
 */
export async function openSocketFolder({
  placement,
  folder,
}: {
  placement: Placement;
  folder: string;
}): Promise<string> {
  const inHome = join(placement.home, "socket");
  const path = fits(inHome) ? inHome : temporary(folder);
  if (!fits(path)) {
    throw new EmbeddedError(
      `Neither ${inHome} nor ${path} can be the folder of the socket: its path can have at ` +
        `most ${maxPathBytes} bytes, and no comma or newline. Set BECKON_DATA_DIR or TMPDIR to ` +
        "another folder.",
    );
  }
  const owner = placement.owner?.uid ?? process.geteuid?.() ?? 0;
  const made = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    () => false,
  );
  if (made && placement.owner !== undefined)
    await chown(path, placement.owner.uid, placement.owner.gid);
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== owner) {
    throw new EmbeddedError(`${path} is not a folder of user ${owner}. Remove it and start again.`);
  }
  await chmod(path, 0o700);
  return path;
}

/**
 * Removes the socket and its lock file that a killed PostgreSQL left. Call this only when no
 * PostgreSQL uses the folder.
 */
export async function clearSocketFolder(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.startsWith(".s.PGSQL.")) await rm(join(path, name), { force: true });
  }
}

/**
 * Removes the socket's folder `path` if `openSocketFolder` created it in the temporary directory,
 * for the data folder `folder`. Does nothing if `path` is in `placement.home`.
 */
export async function removeTemporary(path: string, folder: string): Promise<void> {
  if (path === temporary(folder)) await rm(path, { recursive: true, force: true });
}

function temporary(folder: string): string {
  return join(tmpdir(), `beckon-${hashOf(folder)}`);
}

/**
 * Returns whether the folder's path is short enough and has no comma or newline.
 * `unix_socket_directories` is a comma-separated list.
 */
function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, ".s.PGSQL.5432")) <= maxPathBytes && !/[,\n]/.test(folder);
}
