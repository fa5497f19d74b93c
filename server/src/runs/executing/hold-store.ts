import type { Database } from "../../base/database/index.ts";
import type { RunRef } from "../run.ts";

/**
 * Returns whether a request to a trigger started the run, and the trigger is set to hold its runs.
 * Replays and retries are not held: the ceiling of a key can be what rejects them, and held runs
 * are released without regard to it.
 */
export async function readHolds(database: Database, run: RunRef): Promise<boolean> {
  const { rows } = await database.engine.query<{ holds: boolean }>({
    name: "read-holds",
    text: `select exists (
        select from run_inputs i
        join triggers g on g.id = i.trigger_id and g.workspace_id = i.workspace_id
        where i.run_id = $1 and i.workspace_id = $2 and i.source = 'trigger'
          and i.principal = 'trigger:' || i.trigger_id and g.deleted_at is null
          and g.receiving ->> 'when_paused' = 'hold'
      ) as holds`,
    values: [run.runId, run.workspaceId],
  });
  return rows[0]?.holds === true;
}
