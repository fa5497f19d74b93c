import type { Database } from "../base/database/index.ts";

/** Numbers about the runs of all workspaces. */
export interface RunFigures {
  readonly queued: number;
  readonly running: number;
  /**
   * Longest time in seconds that a run has been in the queue, counted from its release if it was
   * held or a stopping process released it; 0 if the queue is empty.
   */
  readonly oldestQueuedSeconds: number;
}

/** Counts queued and running runs. Reads two partial indexes, and the rows of the queued runs. */
export async function readRunFigures({ engine }: Database): Promise<RunFigures> {
  const { rows } = await engine.query<RunFigures>({
    name: "run-figures",
    text: `select count(*)::int as queued,
        (select count(*)::int from runs where status = 'running') as running,
        coalesce(extract(epoch from now() - min(coalesce(released_at, created_at))), 0)::float8
          as "oldestQueuedSeconds"
      from runs where status = 'queued'`,
  });
  return rows[0] ?? { queued: 0, running: 0, oldestQueuedSeconds: 0 };
}
