import type { NewWorkspaceEvent } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertWorkspaceEvents } from "./insert-events.ts";

/**
 * Makes transactions that write workspace events about the same subject run one after the other, so
 * that their transaction ids, by which events are sorted, are in the order of the changes. Call it
 * before the transaction locks or writes any row. PostgreSQL assigns an id to a transaction at its
 * first write, and also when it waits for the lock of a row. If two transactions wait for the same
 * row, the one with the lower id could therefore change it last. Waiting for an advisory lock
 * assigns no id.
 *
 * @param subject the id of the object that the events are about.
 */
export async function orderWorkspaceEvents(
  tx: WorkspaceTransaction,
  subject: string,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx);
}

/**
 * Writes a workspace event.
 *
 * @param tx the transaction of the change that the event reports. It must have called
 *   `orderWorkspaceEvents` before.
 * @param agentId the agent that the event concerns; null if it concerns the workspace as a whole.
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
