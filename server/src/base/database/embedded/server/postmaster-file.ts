import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The contents of `postmaster.pid`, which a running PostgreSQL writes. */
export interface PostmasterFile {
  readonly pid: number;
  /** Unix time in seconds, by the system clock when it started. */
  readonly startedAt: number;
  readonly ready: boolean;
}

/**
 * Reads `postmaster.pid`. Returns undefined if it is missing or incomplete: PostgreSQL writes its
 * lines one by one.
 */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, , startedAt, , , , , status] = text.split("\n");
  if (!/^\d+$/.test(pid ?? "") || !/^\d+$/.test(startedAt ?? "")) return undefined;
  return { pid: Number(pid), startedAt: Number(startedAt), ready: status?.trim() === "ready" };
}
