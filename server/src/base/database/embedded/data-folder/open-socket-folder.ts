import { chmod, chown, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";
import { hashOf, type Placement } from "../placement/index.ts";

/** PostgreSQL's limit is that of the kernel's sockaddr_un (104 on macOS, 108 on Linux); we stay clear of both. */
const longest = 100;

/**
 * The 0700 folder of the socket: in the home, or under the temporary directory when PostgreSQL cannot take the socket's path. Whoever
 * may enter it may connect without a password, so a folder of that name that is not ours alone stops the start.
 */
export async function openSocketFolder({
  placement,
  folder,
}: {
  placement: Placement;
  folder: string;
}): Promise<string> {
  const beside = join(placement.home, "socket");
  const path = fits(beside) ? beside : temporary(folder);
  if (!fits(path)) {
    throw new EmbeddedError(
      `Neither ${beside} nor ${path} can hold a socket: its path has at most ${longest} bytes, and no comma or newline. Name another folder with BECKON_DATA_DIR or TMPDIR.`,
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
    throw new EmbeddedError(
      `${path} must be a folder of user ${owner}, and is not. Remove it and start again.`,
    );
  }
  await chmod(path, 0o700);
  return path;
}

/** Removes a socket and its lock file that a killed PostgreSQL left; call it only when none runs there. */
export async function clearSocketFolder(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (name.startsWith(".s.PGSQL.")) await rm(join(path, name), { force: true });
  }
}

/** Leaves nothing in the temporary directory after an orderly stop. */
export async function removeTemporary(path: string, folder: string): Promise<void> {
  if (path === temporary(folder)) await rm(path, { recursive: true, force: true });
}

function temporary(folder: string): string {
  return join(tmpdir(), `beckon-${hashOf(folder)}`);
}

/** `unix_socket_directories` is a list, separated by commas. */
function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, ".s.PGSQL.5432")) <= longest && !/[,\n]/.test(folder);
}
