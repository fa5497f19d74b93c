import type { WorkspaceTransaction } from "../base/database/index.ts";
import type { Queryable } from "./kinds.ts";

/** A workspace, and for how many days it keeps its runs; null if it has not chosen a number. */
export interface WorkspaceDays {
  readonly id: string;
  readonly runDays: number | null;
}

/** Returns up to `max` workspaces with ids above `after`, in the order of their ids. */
export async function listWorkspaceDays(
  connection: Queryable,
  after: string,
  max: number,
): Promise<WorkspaceDays[]> {
  const { rows } = await connection.query<WorkspaceDays>({
    name: "list-retention-of-workspaces",
    text: `select id, run_retention_days as "runDays" from workspaces
      where id > $1 order by id limit $2`,
    values: [after, max],
  });
  return rows;
}

/** Returns the days for which the workspace keeps its runs; null if it has not chosen a number. */
export async function readRunDays(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<number | null> {
  const row = await tx
    .selectFrom("workspaces")
    .select("run_retention_days")
    .where("id", "=", workspaceId)
    .executeTakeFirst();
  return row?.run_retention_days ?? null;
}
