import { randomUUID } from "node:crypto";
import { cp, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder, syncTree } from "../sync-folder.ts";
import type { Binaries } from "./find-binaries.ts";
import { restoreLinks } from "./restore-links.ts";

/**
 * Copies the binaries into `folder`, once per version. A copy is needed if PostgreSQL's user cannot
 * read the checkout, or if the checkout is read-only, so that `restoreLinks` cannot create the
 * symbolic links of the libraries in it. The copy gets its final name by a rename after everything
 * is on disk, so a folder with the final name is complete.
 */
export async function copyBinaries(binaries: Binaries, folder: string): Promise<Binaries> {
  const native = join(folder, `postgresql-${binaries.version}`, "native");
  const copied = { ...binaries, native };
  if (await stat(native).catch(() => undefined)) return copied;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const fresh = join(folder, `postgresql.new-${randomUUID()}`);
  try {
    await cp(binaries.native, join(fresh, "native"), { recursive: true, verbatimSymlinks: true });
    await restoreLinks(join(fresh, "native"));
    await syncTree(fresh);
    await rename(fresh, dirname(native));
    await syncFolder(folder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return copied;
}
