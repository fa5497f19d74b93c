import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What a running PostgreSQL says about itself in `postmaster.pid`. */
export interface PostmasterFile {
  readonly pid: number;
  /** Seconds since 1970 by the clock of that moment. */
  readonly startedAt: number;
  readonly ready: boolean;
}

/** Reads `postmaster.pid`; undefined when there is none or it was cut short. PostgreSQL adds its lines one after another. */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, , startedAt, , , , , status] = text.split("\n");
  if (!/^\d+$/.test(pid ?? "") || !/^\d+$/.test(startedAt ?? "")) return undefined;
  return { pid: Number(pid), startedAt: Number(startedAt), ready: status?.trim() === "ready" };
}
