import { statfsSync, statSync } from "node:fs";
import { EmbeddedError } from "../embedded-error.ts";

/**
 * Free bytes that a backup leaves on PostgreSQL's own disk. PostgreSQL writes during the backup,
 * and it stops if the disk is full.
 */
const reserveBytes = 1024 ** 3;

/**
 * Checks the free space of the folder's file system.
 * @param cluster the files of a PostgreSQL that continues to write. If they are on the same file
 *   system, 1 GiB more must be free. Default: none.
 * @throws EmbeddedError if less is free than `bytes` and that reserve.
 */
export function checkSpace(folder: string, bytes: number, cluster?: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const isShared = cluster !== undefined && statSync(cluster).dev === statSync(folder).dev;
  const needed = bytes + (isShared ? reserveBytes : 0);
  if (bavail * bsize >= needed) return;
  const inMib = (value: number) => `${Math.ceil(value / 1_048_576)} MiB`;
  const why = isShared ? ` (with ${inMib(reserveBytes)} for Beckon, on the same disk)` : "";
  throw new EmbeddedError(
    `There is not enough space in ${folder}: ${inMib(needed)} are needed${why}, ` +
      `${inMib(bavail * bsize)} are free. Free some space, or name another folder.`,
  );
}
