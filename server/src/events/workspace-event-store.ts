import type { NewWorkspaceEvent } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { insertWorkspaceEvents } from "./insert-events.ts";

/**
 * Makes transactions that write workspace events about `subject` (an id) run one after the other,
 * so that the ids of the transactions, and with them the events, are in the order of the changes.
 * Call it before the transaction locks or writes anything: PostgreSQL assigns a transaction its id
 * at its first write, and also while it waits for the lock of a row that was updated meanwhile,
 * before another one that gets the lock earlier. Waiting for an advisory lock assigns none.
 */
export async function orderWorkspaceEvents(
  tx: WorkspaceTransaction,
  subject: string,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx);
}

/**
 * Writes a workspace event in the transaction of the change that it reports, which has called
 * `orderWorkspaceEvents`.
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
