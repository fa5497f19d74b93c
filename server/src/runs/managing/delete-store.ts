import type { WorkspaceTransaction } from "../../base/database/index.ts";

/** A run's row, held: of two who delete it the second finds nothing. */
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
 * Deletes those that have ended, with what hangs on a run without a foreign key; its files go with it by theirs.
 * @returns how many there were.
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
  const gone = deleted.map(({ id }) => id);
  for (const table of ["run_inputs", "run_results", "events"] as const) {
    await tx
      .deleteFrom(table)
      .where("run_id", "in", gone)
      .where("workspace_id", "=", workspaceId)
      .execute();
  }
  return gone.length;
}
