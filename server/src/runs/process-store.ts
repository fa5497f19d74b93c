import type { Database } from "../base/database/index.ts";
import { engineVersion } from "./run.ts";

/** Anything that runs a query: a pool, or the lease's own connection. */
type Queryable = Pick<Database["engine"], "query">;

/** Puts a process on record, alive for `leaseSeconds`. */
export async function registerProcess(connection: Queryable, id: string, leaseSeconds: number): Promise<void> {
  await connection.query(
    "insert into processes (id, engine_version, lease_until) values ($1, $2, now() + make_interval(secs => $3)) on conflict (id) do nothing",
    [id, engineVersion, leaseSeconds],
  );
}

/** @returns false when the process has been declared dead: it must drop its runs. */
export async function renewLease(connection: Queryable, id: string, leaseSeconds: number): Promise<boolean> {
  const { rowCount } = await connection.query(
    "update processes set lease_until = now() + make_interval(secs => $2) where id = $1 and died_at is null",
    [id, leaseSeconds],
  );
  return rowCount === 1;
}

/** Records the death of processes that are known to be gone, or of all but `survivor`. */
export async function recordDeaths(connection: Queryable, dead: readonly string[] | "all", survivor: string): Promise<void> {
  await connection.query(
    "update processes set died_at = now() where died_at is null and id <> $1 and ($2::text[] is null or id = any ($2))",
    [survivor, dead === "all" ? null : dead],
  );
}

/** Runs of this process that somebody has asked to cancel, perhaps through another process. */
export async function cancelledRuns(connection: Queryable, owner: string): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>({
    name: "cancelled-runs",
    text: "select id from runs where status = 'running' and owner = $1 and cancel_requested_at is not null",
    values: [owner],
  });
  return rows.map((row) => row.id);
}
