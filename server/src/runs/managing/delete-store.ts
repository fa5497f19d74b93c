import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { requestsWithoutRun } from "../../retention/index.ts";

/**
 * Locks a run's row and returns it; undefined if the run does not exist. A concurrent deletion of
 * the same run waits for the lock and then finds no row.
 */
export function lockRun(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
): Promise<{ agent_id: string; status: string; finished_at: Date | null } | undefined> {
  return tx
    .selectFrom("runs")
    .select(["agent_id", "status", "finished_at"])
    .where("id", "=", runId)
    .where("workspace_id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Deletes the runs that have ended, and skips the others. Artifacts have a foreign key to `runs`,
 * so the database deletes them too. The rows in the other tables are deleted explicitly.
 * @returns the number of deleted runs.
 */
export async function deleteRunRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<number> {
  if (runIds.length === 0) return 0;
  const deleted = await tx
    .deleteFrom("runs")
    .where("id", "in", runIds)
    .where("workspace_id", "=", workspaceId)
    .where("finished_at", "is not", null)
    .returning("id")
    .execute();
  if (deleted.length === 0) return 0;
  const deletedIds = deleted.map(({ id }) => id);
  for (const table of [
    "run_inputs",
    "run_drafts",
    "run_results",
    "run_callbacks",
    "events",
  ] as const) {
    await tx
      .deleteFrom(table)
      .where("run_id", "in", deletedIds)
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  await emptyDeliveries(tx, workspaceId, deletedIds);
  await emptyRequests(tx, workspaceId, deletedIds);
  return deletedIds.length;
}

/**
 * Deletes the content of the requests that triggers received for deleted runs, and its copies in
 * `requestsWithoutRun`. The rows stay, because they record the outcome of the events. Event ids
 * stay too, so that a repeated event starts no run.
 */
async function emptyRequests(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<void> {
  await sql`with emptied as (
      update received_requests set query = null, headers = null, body = null, error = null
      where run_id = any (${runIds}::text[]) and workspace_id = ${workspaceId}
      returning trigger_id, event_id, replay_of
    )
    update received_requests set query = null, headers = null, body = null, error = null
    where ctid = any (array(${sql.raw(requestsWithoutRun("emptied"))}))
      and workspace_id = ${workspaceId}`.execute(tx);
}

/**
 * Deletes the data of deleted runs from their deliveries, and cancels pending deliveries. The rows
 * stay, because they record what receivers got.
 */
async function emptyDeliveries(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runIds: readonly string[],
): Promise<void> {
  const emptied = await tx
    .updateTable("deliveries")
    .set({
      data: null,
      status: sql`case when status = 'pending' then 'cancelled' else status end`,
      next_at: null,
      finished_at: sql`coalesce(finished_at, now())`,
    })
    .where("run_id", "in", runIds)
    .where("workspace_id", "=", workspaceId)
    .returning(["subscription_id", "id"])
    .execute();
  if (emptied.length === 0) return;
  // The response of a receiver can repeat the data that it got.
  await sql`update delivery_attempts a set response_body = ''
    from unnest(${emptied.map((row) => row.subscription_id)}::text[],
      ${emptied.map((row) => row.id)}::text[]) as d (subscription_id, id)
    where a.subscription_id = d.subscription_id and a.delivery_id = d.id
      and a.workspace_id = ${workspaceId} and a.response_body <> ''`.execute(tx);
}
