import type { Queryable } from "./kinds.ts";

/**
 * Minutes from `running_since` to the first pass. That is the time at which a lease became valid
 * again after 10 minutes without one, so also the time to which the database's clock was set
 * forward. If this was a mistake, the clock can be corrected before rows count as old. It is less
 * than the hour after which the alert rule BeckonRetentionBehind fires.
 */
export const clockCheckMinutes = 30;

/**
 * Makes this process the one that deletes old rows. Does nothing if another living process deletes
 * them, if this process has no valid lease, if the last pass finished less than `intervalSeconds`
 * ago, or during the `clockCheckMinutes`. Setting the clock does not affect a pass that has begun:
 * it uses the returned time to its end.
 * @returns the database's time if this process deletes now; undefined if it does not.
 */
export async function beginPass(
  connection: Queryable,
  processId: string,
  intervalSeconds: number,
): Promise<Date | undefined> {
  const { rows } = await connection.query<{ now: Date }>({
    name: "begin-pruning",
    text: `update installation i set pruning_process = $1
      where (i.pruned_at is null or i.pruned_at <= now() - make_interval(secs => $2)
          -- The database's clock was ahead when the last pass finished.
          or i.pruned_at > now())
        -- A later time is from before the clock was set back.
        and coalesce(i.running_since not between now() - make_interval(mins => $3) and now(), true)
        -- After the clock was set forward, no lease is valid until a renewal sets running_since.
        and exists (select from processes own
          where own.id = $1 and own.died_at is null and own.lease_until > now())
        and (i.pruning_process is null or i.pruning_process = $1
          or not exists (select from processes p
            where p.id = i.pruning_process and p.died_at is null and p.lease_until > now()))
      returning now() as now`,
    values: [processId, intervalSeconds, clockCheckMinutes],
  });
  return rows[0]?.now;
}

/** Returns whether this process is still the one that deletes old rows. */
export async function stillPruning(connection: Queryable, processId: string): Promise<boolean> {
  const { rowCount } = await connection.query({
    name: "still-pruning",
    text: "select from installation where pruning_process = $1",
    values: [processId],
  });
  return rowCount === 1;
}

/**
 * Ends the pass of this process.
 * @param isFinished whether the pass went through all old rows. If not, the next pass is due at
 *   once.
 */
export async function endPass(
  connection: Queryable,
  processId: string,
  isFinished: boolean,
): Promise<void> {
  await connection.query({
    name: "end-pruning",
    text: `update installation set pruning_process = null,
        pruned_at = case when $2 then now() else pruned_at end
      where pruning_process = $1`,
    values: [processId, isFinished],
  });
}

/** Returns the Unix time, in seconds, at which the last pass finished; 0 if none has. */
export async function readLastPass(connection: Queryable): Promise<number> {
  const { rows } = await connection.query<{ seconds: number }>({
    name: "last-pruning",
    text: `select coalesce(extract(epoch from pruned_at), 0)::double precision as seconds
      from installation`,
    values: [],
  });
  return rows[0]?.seconds ?? 0;
}

/**
 * Returns how many rows were ever inserted, according to PostgreSQL's statistics. `others` is the
 * sum for `otherTables`.
 */
export async function countCreatedRows(
  connection: Queryable,
  otherTables: readonly string[],
): Promise<{ readonly runs: number; readonly others: number }> {
  const { rows } = await connection.query<{ runs: number; others: number }>({
    name: "count-created-rows",
    text: `select pg_stat_get_tuples_inserted('runs'::regclass)::double precision as runs,
      (select sum(pg_stat_get_tuples_inserted(name::regclass)) from unnest($1::text[]) as name
      )::double precision as others`,
    values: [otherTables],
  });
  return rows[0] ?? { runs: 0, others: 0 };
}
