import { sql } from "kysely";
import type { WorkspaceTransaction } from "./base/database/index.ts";

export interface DemoRow {
  readonly agent_id: string;
  /** null if the trigger was deleted or disabled. */
  readonly trigger_id: string | null;
  /** Whether commands are printed: the agent is not paused, and its calls cost nothing. */
  readonly is_offered: boolean;
}

/**
 * Returns the demo agent and its trigger; undefined if the agent is deleted. They are found by
 * their creation time: they were created in the same transaction as the workspace, and `now()` is
 * the same throughout a transaction.
 * @param model the demo model, whose calls cost nothing.
 */
export async function findDemoRow(
  tx: WorkspaceTransaction,
  { workspaceId, model }: { workspaceId: string; model: string },
): Promise<DemoRow | undefined> {
  const { rows } = await sql<DemoRow>`
    select a.id as agent_id, t.id as trigger_id,
           a.paused_at is null and v.config ->> 'model' = ${model} as is_offered
      from workspaces w
      join agents a on a.workspace_id = w.id and a.created_at = w.created_at
      join agent_versions v
        on v.workspace_id = w.id and v.agent_id = a.id and v.version = a.version
      left join triggers t
        on t.workspace_id = w.id and t.agent_id = a.id and t.created_at = w.created_at
       and t.deleted_at is null and t.enabled
     where w.id = ${workspaceId} and a.deleted_at is null
     limit 1`.execute(tx);
  return rows[0];
}
