import { open } from "node:fs/promises";

/** Syncs a folder: a created or renamed entry survives a power failure only after this. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
