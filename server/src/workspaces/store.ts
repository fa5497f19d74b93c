import type { WorkspaceTransaction } from "../base/database/index.ts";

/** @returns whether it was added now. */
export async function insertWorkspace(tx: WorkspaceTransaction, row: { id: string; name: string }): Promise<boolean> {
  const added = await tx
    .insertInto("workspaces")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  return added !== undefined;
}
