import type { WorkspaceTransaction } from "../../base/database/index.ts";

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
  for (const table of ["run_inputs", "run_drafts", "run_results", "events"] as const) {
    await tx
      .deleteFrom(table)
      .where("run_id", "in", deletedIds)
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  return deletedIds.length;
}
