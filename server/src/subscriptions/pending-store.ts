import { sql } from "kysely";
import { type Database, inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { aboutAgents } from "./deliveries/index.ts";

/** Maximum rows per transaction, so that no transaction holds its row locks for long. */
const batchSize = 5_000;

/**
 * Ends the pending deliveries of a subscription that is no longer enabled. Must be called after the
 * commit of the change that paused, disabled or deleted it: SQL statements that start after this
 * commit see the change, and add no pending deliveries. If the process exits before all are ended,
 * the periodic sweep of `startSender` ends the others.
 */
export async function endPending(
  database: Database,
  { id, workspace_id }: { readonly id: string; readonly workspace_id: string },
  status: "cancelled" | "not_sent",
): Promise<void> {
  for (;;) {
    const picked = await inWorkspace(database.tenant, workspace_id, async (tx) => {
      // The rows are updated by their ctid. If they were joined by id, and the planner's statistics
      // did not contain the subscription yet, each row would be compared with the whole batch.
      const { rows } = await sql<{ count: number }>`with picked as materialized (
          select d.ctid from deliveries d join subscriptions s
            on s.id = d.subscription_id and s.workspace_id = d.workspace_id
          where d.subscription_id = ${id} and d.workspace_id = ${workspace_id}
            and d.status = 'pending' and (s.status <> 'enabled' or s.deleted_at is not null)
          limit ${batchSize} for update of d
        ), ended as (
          update deliveries set status = ${status}, next_at = null, finished_at = now()
          where ctid = any(array(select ctid from picked))
        )
        select count(*)::int from picked`.execute(tx);
      return rows[0]?.count ?? 0;
    });
    // Stops only when nothing was picked, not after an incomplete batch. If another transaction,
    // such as a claim, changed a picked row meanwhile, the update does not see the new version of
    // the row and leaves it pending.
    if (picked === 0) return;
  }
}

/**
 * Like `endPending`, but does not throw if the database becomes unavailable: the periodic sweep of
 * `startSender` then ends the remaining deliveries. For requests whose change is already committed:
 * an error response would say that nothing was changed.
 */
export async function endPendingOrLeave(...given: Parameters<typeof endPending>): Promise<void> {
  try {
    await endPending(...given);
  } catch (thrown) {
    if (!(thrown instanceof ApiError && thrown.code === "unavailable")) throw thrown;
  }
}

/**
 * Sets to `not_sent` the pending deliveries that a caller limited to agents cannot see. They remain
 * from the time before the subscription was limited to these agents. Callbacks stay pending: they
 * go to their own URLs, without the subscription's headers.
 */
export async function endPendingAboutOthers(
  tx: WorkspaceTransaction,
  { id, workspace_id }: { readonly id: string; readonly workspace_id: string },
  agentIds: readonly string[],
): Promise<void> {
  await sql`update deliveries d set status = 'not_sent', next_at = null, finished_at = now(),
      last_error = 'A key that is limited to other agents has changed the subscription.'
    where d.subscription_id = ${id} and d.workspace_id = ${workspace_id} and d.status = 'pending'
      and d.kind <> 'callback' and ${aboutAgents("d", agentIds)} is not true`.execute(tx);
}
