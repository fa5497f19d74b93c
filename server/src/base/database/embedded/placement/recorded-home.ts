import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "../exists.ts";

/** Returns the path of the file that records the home of a cluster outside of the data folder. */
export function homeRecordOf(folder: string): string {
  return join(folder, "postgres.elsewhere");
}

/**
 * Returns whether the data folder has a record of the home of its cluster, even an incomplete one.
 * So the folder contains an installation, whose cluster is in `homeUnderAnotherUser`.
 * @throws EmbeddedError if that cannot be read.
 */
export function hasHomeRecord(folder: string): Promise<boolean> {
  return exists(homeRecordOf(folder));
}

/**
 * Records in the data folder that its cluster is in `home`. If the folder is then moved, or a
 * container is recreated without its /var/lib, startup fails instead of creating an empty
 * installation.
 */
export async function recordHome(folder: string, home: string): Promise<void> {
  await writeFile(homeRecordOf(folder), `${home}\n`, { mode: 0o600, flush: true });
}

/**
 * Returns the home that `recordHome` recorded; undefined if there is no complete record. A record
 * is incomplete if the process was killed while it wrote the record of a new cluster. That cluster
 * is in the default home, so the record is not needed.
 */
export async function readRecordedHome(folder: string): Promise<string | undefined> {
  const text = await readFile(homeRecordOf(folder), "utf8").catch(() => "");
  return text.endsWith("\n") ? text.trim() : undefined;
}
