import type { Database } from "../base/database/index.ts";

/** Numbers about the runs of all workspaces. */
export interface RunFigures {
  readonly queued: number;
  readonly running: number;
  /** Age of the oldest queued run in seconds; 0 if there is none. */
  readonly oldestQueuedSeconds: number;
}

/**
 * Counts queued and running runs. Reads two partial indexes and one row: ids of runs begin with
 * their time, so the smallest id is that of the oldest run.
 */
export async function readRunFigures({ engine }: Database): Promise<RunFigures> {
  const { rows } = await engine.query<RunFigures>({
    name: "run-figures",
    text: `with queue as (
      select count(*)::int as queued, min(id) as oldest from runs where status = 'queued'
    )
    select queued, (select count(*)::int from runs where status = 'running') as running,
      coalesce(extract(epoch from now() - (select created_at from runs where id = oldest)), 0)::float8
        as "oldestQueuedSeconds"
    from queue`,
  });
  return rows[0] ?? { queued: 0, running: 0, oldestQueuedSeconds: 0 };
}
