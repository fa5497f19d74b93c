import { randomUUID } from "node:crypto";
import { readFile, rename, stat, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Restores the symbolic links between library names, which an npm package cannot contain. The
 * package's install script does the same, but npm may have run without scripts, or the checkout may
 * be a copy without links. Running this twice, or concurrently, is harmless.
 * @throws the file system's error if a link is missing and cannot be created, for example on a
 *   read-only file system.
 */
export async function restoreLinks(native: string): Promise<void> {
  for (const { source, target } of await listLinks(join(native, "pg-symlinks.json"))) {
    const at = join(dirname(native), target);
    if (await targetExists(at)) continue;
    // The link is created under another name and renamed, so that it replaces a dangling link and
    // no process sees the link missing.
    const fresh = `${at}.${randomUUID()}`;
    await symlink(basename(source), fresh);
    try {
      await rename(fresh, at);
    } catch (thrown) {
      await unlink(fresh);
      throw thrown;
    }
  }
}

async function listLinks(path: string): Promise<readonly Link[]> {
  const text = await readFile(path, "utf8").catch(() => "[]");
  const read: unknown = JSON.parse(text);
  return Array.isArray(read) ? read.filter(isLink) : [];
}

function isLink(value: unknown): value is Link {
  return (
    typeof value === "object" &&
    value !== null &&
    "source" in value &&
    typeof value.source === "string" &&
    "target" in value &&
    typeof value.target === "string"
  );
}

async function targetExists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
