import type { Queryable } from "../base/database/index.ts";
import { engineVersion } from "../base/engine-version.ts";

/**
 * Minimum time without any process after which the time before no longer counts for queued runs. It
 * is longer than a usual restart, so that frequent restarts do not keep runs in the queue for ever.
 */
const downtime = "interval '10 minutes'";

/**
 * Longer than the maximum lease, which is 10 minutes. A lease that expires later was renewed while
 * the database's clock was ahead.
 */
const maxLeft = "interval '20 minutes'";

/**
 * SQL condition that no process has had a valid lease for 10 minutes. After a machine was
 * suspended, it is true until the first renewal of a lease records that Beckon runs again.
 */
export const isWithoutProcess = `(select coalesce(max(lease_until)
        filter (where lease_until < now() + ${maxLeft}) < now() - ${downtime}, false)
      from processes)`;

/**
 * Part of a statement that creates or renews a lease. If no lease has been valid for `downtime`, it
 * records that Beckon has been running since now: see `expire-queued-statement.ts`. It reads the
 * leases as they were before the statement.
 */
const running = `running as (
    update installation set running_since = now() where ${isWithoutProcess}
  )`;

/**
 * Inserts a process whose lease expires after `leaseSeconds`. If no process has had a valid lease
 * for 10 minutes, records that Beckon has been running since now.
 * @param acceptsRuns whether the process executes queued runs.
 */
export async function registerProcess(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
  acceptsRuns = true,
): Promise<void> {
  await connection.query(
    `with ${running}
      insert into processes (id, engine_version, lease_seconds, lease_until, accepts_runs)
      values ($1, $2, $3, now() + make_interval(secs => $3), $4) on conflict (id) do nothing`,
    [id, engineVersion, leaseSeconds, acceptsRuns],
  );
}

/** Records that the process executes no more queued runs, because it stops. */
export async function recordDrain(connection: Queryable, id: string): Promise<void> {
  await connection.query("update processes set accepts_runs = false where id = $1", [id]);
}

/**
 * Minimum part of the lease that is left at a renewal, unless the renewal is late or the database's
 * clock was set forward. Usually five sixths are left, because renewals are a sixth of the lease
 * apart. More than the whole lease is left only if the clock was set back.
 */
const leftAtRenewal = 0.25;

/**
 * Returns the SQL condition that the caller's lease is regular: the time that is left of it is at
 * least `leftAtRenewal` of its length, and at most its whole length. If renewals are late, or the
 * database's clock was set forward, less can be left. If the clock was set back, more can be left.
 */
const isRegular = (leaseSeconds: string) => `lease_until between
  now() + make_interval(secs => ${leaseSeconds}::float8 * ${leftAtRenewal}) and
  now() + make_interval(secs => ${leaseSeconds}::float8)`;

/**
 * Renews the lease of a process for `leaseSeconds` from now. If no process has had a valid lease
 * for 10 minutes, for example because the machine was suspended, records that Beckon has been
 * running since now.
 * @returns `alive`: the number of living processes, including this one; `wasRegular`: whether
 *   `isRegular` held before the renewal. undefined if this process was declared dead and must drop
 *   its runs.
 */
export async function renewLease(
  connection: Queryable,
  id: string,
  leaseSeconds: number,
): Promise<{ alive: number; wasRegular: boolean } | undefined> {
  // The subquery locks the row, so that it reads the same version of the row as the update.
  const { rows } = await connection.query<{ alive: number; wasRegular: boolean }>(
    `with ${running}
      update processes p set lease_until = now() + make_interval(secs => $2)
      from (select ${isRegular("$2")} as regular
        from processes where id = $1 for no key update) as before
      where p.id = $1 and p.died_at is null
      returning before.regular as "wasRegular",
        (select count(*)::int from processes where died_at is null) as alive`,
    [id, leaseSeconds],
  );
  return rows[0];
}

/**
 * Declares processes with expired leases dead. Does nothing if the caller's own lease is not
 * regular: the database's clock may have been set. If it was set forward, the leases of living
 * processes have expired too. If a process renews its lease at the same moment, whichever update
 * locks the row first takes effect: the other one waits for the row and checks its conditions
 * again.
 *
 * The database's clock may have been set back. Then `lease_until` of a process that exited can be
 * hours ahead. Such a process is declared dead if `lease_until` is further ahead than two lease
 * lengths, and the caller has held its own lease for at least that process's lease length: any
 * renewal in that time would have corrected `lease_until`. The limit is two lengths and not one: if
 * the clock was set back by less than the time since the caller's last renewal, the caller's lease
 * is still regular, but a lease that was renewed just before ends more than one length ahead.
 * @param heldSeconds time for which the caller has held its lease, with regular renewals.
 * @returns the ids of the processes that were declared dead.
 */
export async function recordExpired(
  connection: Queryable,
  ownId: string,
  leaseSeconds: number,
  heldSeconds: number,
): Promise<string[]> {
  const { rows } = await connection.query<{ id: string }>(
    `update processes p set died_at = now()
      where p.died_at is null and p.id <> $1
        and (p.lease_until < now() or p.lease_seconds <= $3
          and p.lease_until > now() + make_interval(secs => 2 * greatest(p.lease_seconds, $2)))
        and exists (select from processes where id = $1 and died_at is null and ${isRegular("$2")})
      returning p.id`,
    [ownId, leaseSeconds, heldSeconds],
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

/**
 * Returns whether no living process that executes runs has a lower id than `id`. This is true for
 * at least one process, which can therefore do what one of them should do. It is true for several
 * only for a short time, for example while the first one stops.
 */
export async function isFirstProcess(connection: Queryable, id: string): Promise<boolean> {
  const { rows } = await connection.query<{ first: boolean }>({
    name: "is-first-process",
    text: `select not exists (select from processes where accepts_runs and died_at is null
        and lease_until > now() and id < $1) as first`,
    values: [id],
  });
  return rows[0]?.first === true;
}
