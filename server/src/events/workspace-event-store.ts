import type { NewWorkspaceEvent } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertWorkspaceEvents } from "./insert-events.ts";

/**
 * Writes a workspace event, in the transaction of the change that it reports.
 *
 * The transaction must have locked the changed row before its first write: PostgreSQL numbers a
 * transaction when it first writes, so the events about one row are in the order of its changes.
 *
 * @param about `agentId` null: the event is about the workspace as a whole.
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
