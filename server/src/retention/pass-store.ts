import type { Queryable } from "./kinds.ts";

/**
 * Makes this process the one that deletes old rows. Does nothing if another living process deletes
 * them, if this process was declared dead, or if the last pass finished less than `intervalSeconds`
 * ago.
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
        and exists (select from processes own where own.id = $1 and own.died_at is null)
        and (i.pruning_process is null or i.pruning_process = $1
          or not exists (select from processes p
            where p.id = i.pruning_process and p.died_at is null and p.lease_until > now()))
      returning now() as now`,
    values: [processId, intervalSeconds],
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
