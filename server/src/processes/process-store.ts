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
 * Minimum part of the lease that is left at a renewal, unless the renewal is late or the database's
 * clock was set forward. Usually five sixths are left, because renewals are a sixth of the lease
 * apart.
 */
const leftAtRenewal = 0.25;

/**
 * Renews the lease of a process for `leaseSeconds` from now.
 * @returns the number of living processes, including this one, and whether the lease had nearly or
 *   wholly expired; undefined if this process was declared dead and must drop its runs.
 */
export async function renewLease(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<{ alive: number; nearlyExpired: boolean } | undefined> {
  // The subquery locks the row, so that it reads the same version of the row as the update.
  const { rows } = await connection.query<{ alive: number; nearlyExpired: boolean }>(
    `update processes p set lease_until = now() + make_interval(secs => $2)
      from (select lease_until < now() + make_interval(secs => $3) as nearly_expired
        from processes where id = $1 for no key update) as before
      where p.id = $1 and p.died_at is null
      returning before.nearly_expired as "nearlyExpired",
        (select count(*)::int from processes where died_at is null) as alive`,
    [id, leaseSeconds, leaseSeconds * leftAtRenewal],
  );
  return rows[0];
}

/**
 * Declares processes with expired leases dead. Does nothing if the lease of the caller, `ownId`,
 * has nearly expired by the database's clock: that clock may have been set forward, and then the
 * leases of living processes have expired too. If a process renews its lease at the same moment,
 * whichever update locks the row first takes effect: the other one waits for the row and checks its
 * conditions again.
 * @returns the ids of the processes that were declared dead.
 */
export async function recordExpired(
  connection: Queryable,
  ownId: string,
  leaseSeconds: number,
): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `update processes p set died_at = now()
      where p.died_at is null and p.lease_until < now() and p.id <> $1
        and exists (select from processes own
          where own.id = $1 and own.died_at is null
            and own.lease_until > now() + make_interval(secs => $2))
      returning p.id`,
    [ownId, leaseSeconds * leftAtRenewal],
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
