import { readFile } from "node:fs/promises";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Accounts that PostgreSQL could run under instead of root, best first. They must have a name, since initdb looks its own up and
 * stops without one. Read from the file and not through `id` or `getent`, which small container images lack.
 */
export async function lesserAccounts(): Promise<readonly Account[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  const preferred = ["beckon", "postgres", "nobody"];
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid = "", gid = ""]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ name, uid }) => preferred.includes(name) && uid > 0)
    .sort((one, other) => preferred.indexOf(one.name) - preferred.indexOf(other.name));
}
