import { open } from "node:fs/promises";

/** Makes the names in a folder durable: a created or renamed entry survives a power cut only after this. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
