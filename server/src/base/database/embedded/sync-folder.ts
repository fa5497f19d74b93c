import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Syncs a folder to disk. Without this, a power failure can undo the creation or the renaming of an
 * entry in the folder. `path` can also be a file.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Maximum number of files that `syncTree` syncs at the same time. */
const maxTogether = 16;

/** Syncs all files and folders below `path`, and `path` itself. */
export async function syncTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true, recursive: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  const rest = [...paths, path].values();
  const syncSome = async () => {
    for (const each of rest) await syncFolder(each);
  };
  await Promise.all(Array.from({ length: maxTogether }, syncSome));
}
