import type { NewWorkspaceEvent } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertWorkspaceEvents } from "./insert-events.ts";

/**
 * Writes a workspace event in the transaction of the change that it reports.
 *
 * The transaction must lock the changed row before its first write. PostgreSQL assigns a
 * transaction its id at the first write, so only then are the events about a row in the order of
 * its changes.
 *
 * @param agentId null: the event concerns the workspace as a whole.
 */
export async function writeWorkspaceEvent(
  tx: WorkspaceTransaction,
  { workspaceId, agentId }: { readonly workspaceId: string; readonly agentId: string | null },
  { type, data }: NewWorkspaceEvent,
): Promise<void> {
  await sql`with event (workspace_id, agent_id, id, type, data) as (
    values (${workspaceId}, ${agentId}::text, ${newId("evt")}, ${type}, ${JSON.stringify(data)}::jsonb)
  ), ${sql.raw(insertWorkspaceEvents("event"))} select`.execute(tx);
}
