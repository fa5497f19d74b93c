import type { Database } from "../base/database/index.ts";
import { engineVersion } from "../base/engine-version.ts";

/** A pool of connections, or the connection that is used only for the lease. */
type Queryable = Pick<Database["engine"], "query">;

/** Inserts a process whose lease expires after `leaseSeconds`. */
export async function registerProcess(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<void> {
  await connection.query(
    `insert into processes (id, engine_version, lease_until)
      values ($1, $2, now() + make_interval(secs => $3)) on conflict (id) do nothing`,
    [id, engineVersion, leaseSeconds],
  );
}

/**
 * Renews the lease of a process for `leaseSeconds` from now.
 * @returns the number of living processes, including this one; undefined if this process was
 *   declared dead and must drop its runs.
 */
export async function renewLease(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<{ alive: number } | undefined> {
  const { rows } = await connection.query<{ alive: number }>(
    `update processes set lease_until = now() + make_interval(secs => $2)
      where id = $1 and died_at is null
      returning (select count(*)::int from processes where died_at is null) as alive`,
    [id, leaseSeconds],
  );
  return rows[0];
}

/**
 * Declares processes with expired leases dead. Does nothing unless the lease of the caller,
 * `ownId`, is valid by the database's clock. If a process renews its lease at the same moment,
 * whichever update locks the row first takes effect: the other one waits for the row and checks its
 * conditions again.
 * @returns the ids of the processes that were declared dead.
 */
export async function recordExpired(connection: Queryable, ownId: string): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `update processes p set died_at = now()
      where p.died_at is null and p.lease_until < now() and p.id <> $1
        and exists (select from processes own
          where own.id = $1 and own.died_at is null and own.lease_until > now())
      returning p.id`,
    [ownId],
  );
  return rows.map((row) => row.id);
}

/**
 * Deletes the rows of processes that were declared dead more than a day ago and own no running
 * runs.
 */
export async function forgetDead(connection: Queryable): Promise<void> {
  await connection.query(
    `delete from processes p where p.died_at < now() - interval '1 day'
      and not exists (select from runs r where r.status = 'running' and r.owner = p.id)`,
  );
}

/**
 * Declares processes dead that are known to have exited, without waiting for their leases to
 * expire.
 * @param dead ids of the processes, or `all`.
 * @param survivor id of a process that is not declared dead; empty for none.
 */
export async function recordDeaths(
  connection: Queryable,
  dead: readonly string[] | "all",
  survivor: string,
): Promise<void> {
  await connection.query(
    `update processes set died_at = now()
      where died_at is null and id <> $1 and ($2::text[] is null or id = any ($2))`,
    [survivor, dead === "all" ? null : dead],
  );
}

/** Returns the number of processes with a valid lease. */
export async function countAlive(connection: Queryable): Promise<number> {
  const { rows } = await connection.query<{ alive: number }>(
    `select count(*)::int as alive from processes where died_at is null and lease_until > now()`,
  );
  return rows[0]?.alive ?? 0;
}
