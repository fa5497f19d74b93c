import { readFile } from "node:fs/promises";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns those of the accounts `beckon`, `postgres` and `nobody` that exist, in this order.
 * PostgreSQL can run as one of them instead of root. They are read from /etc/passwd, because small
 * container images lack `id` and `getent`.
 */
export async function unprivilegedAccounts(): Promise<readonly Account[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const preferred = ["beckon", "postgres", "nobody"];
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid = "", gid = ""]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid }) => preferred.includes(name) && uid > 0)
    .sort((one, other) => preferred.indexOf(one.name) - preferred.indexOf(other.name));
}
