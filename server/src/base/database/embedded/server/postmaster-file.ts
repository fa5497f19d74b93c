import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The contents of `postmaster.pid`, which a running PostgreSQL writes. */
export interface PostmasterFile {
  readonly pid: number;
  /** Unix time in seconds at which PostgreSQL started, by the system clock at that moment. */
  readonly startedAt: number;
  /** Folder of the Unix socket; undefined until PostgreSQL has created the socket. */
  readonly socketDir: string | undefined;
  /** For example `starting`, which includes crash recovery, or `ready`; undefined at first. */
  readonly status: string | undefined;
}

/**
 * Reads `postmaster.pid`. Returns undefined if the file is missing, or incomplete because
 * PostgreSQL is still writing it line by line.
 */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, , startedAt, , socketDir, , , status] = text.split("\n");
  if (!/^\d+$/.test(pid ?? "") || !/^\d+$/.test(startedAt ?? "")) return undefined;
  return {
    pid: Number(pid),
    startedAt: Number(startedAt),
    socketDir: socketDir || undefined,
    status: status?.trim(),
  };
}
