import type { Database } from "../base/database/index.ts";
import { engineVersion } from "../base/engine-version.ts";

/** Anything that runs a query: a pool, or the lease's own connection. */
type Queryable = Pick<Database["engine"], "query">;

/** Inserts a process with a lease of `leaseSeconds`. */
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
 * @returns the number of processes alive, this one included; undefined if this one was declared
 *   dead and must drop its runs.
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
 * Declares processes with expired leases dead, if the lease of the caller, `ownId`, is valid by the
 * database's clock. If a process renews at the same moment, the first of the two updates wins: the
 * second waits for the row and checks its conditions again.
 * @returns the ids of the processes declared dead.
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

/** Deletes processes that died more than a day ago and own no running run. */
export async function forgetDead(connection: Queryable): Promise<void> {
  await connection.query(
    `delete from processes p where p.died_at < now() - interval '1 day'
      and not exists (select from runs r where r.status = 'running' and r.owner = p.id)`,
  );
}

/**
 * Declares the processes `dead`, or all, dead, except `survivor`. For processes known to be gone.
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
