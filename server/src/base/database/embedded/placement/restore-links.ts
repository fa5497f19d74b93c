import { randomUUID } from "node:crypto";
import { readFile, rename, stat, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Puts back the links between library names that an npm package cannot carry. The package's own script does the same, but npm
 * may have run without scripts, or the checkout may be a copy that lost them. Running this twice, or twice at once, is harmless.
 * @throws the file system's error when a link is missing and cannot be made, for example on a read-only one.
 */
export async function restoreLinks(native: string): Promise<void> {
  for (const { source, target } of await listLinks(join(native, "pg-symlinks.json"))) {
    const at = join(dirname(native), target);
    if (await leadsSomewhere(at)) continue;
    // Made under another name and renamed over, so that a dangling link is replaced and no process sees it absent.
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

async function leadsSomewhere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
