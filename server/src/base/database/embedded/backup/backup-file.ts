import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tryParseJson } from "../../../json/index.ts";
import { EmbeddedError } from "../embedded-error.ts";
import { isInside } from "./extract-archive.ts";

/** Name of the file that describes a backup. */
export const backupFileName = "backup.json";

const path = z.string().refine(isInside);
const backupFile = z.object({
  format: z.literal(1),
  /** Version of the Beckon that made the backup. */
  beckon: z.string(),
  /** Version of its PostgreSQL. */
  postgresql: z.string(),
  /** When the backup began, by the clock of the database. */
  started_at: z.iso.datetime(),
  /** Everything that was committed before this time is in the backup. */
  complete_until: z.iso.datetime(),
  /**
   * Prefix of every text encrypted with the database's master key, which identifies the key. null
   * if the database has no master key yet.
   */
  master_key: z.string().nullable(),
  /** Size of all files together. */
  bytes: z.number().int().nonnegative(),
  folders: z.array(path),
  files: z.array(
    z.object({
      path,
      bytes: z.number().int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

/**
 * The content of `backup.json`. This file is written after PostgreSQL's files, so a backup without
 * it is incomplete.
 */
export type BackupFile = z.infer<typeof backupFile>;

/**
 * Reads the description of a backup.
 * @throws EmbeddedError if the folder contains no complete backup, or one of another format.
 */
export async function readBackupFile(folder: string): Promise<BackupFile> {
  const text = await readFile(join(folder, backupFileName), "utf8").catch(() => undefined);
  if (text === undefined) {
    throw new EmbeddedError(
      `${folder} contains no complete backup: ${backupFileName} is missing or cannot be read. ` +
        "Name a folder that beckon backup has created.",
    );
  }
  const parsed = backupFile.safeParse(tryParseJson(text));
  if (parsed.success) return parsed.data;
  throw new EmbeddedError(
    `${join(folder, backupFileName)} is damaged, or was written by a newer Beckon. Use another ` +
      "backup, or the Beckon that created it.",
  );
}
