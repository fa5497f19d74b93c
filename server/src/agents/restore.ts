import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type AgentRow, requireLockedAgent, updateAgentRow } from "./records/index.ts";

/**
 * Returns the agent, deleted or not, and locks its row against other changes until the transaction
 * ends.
 * @throws ApiError `not_found`, including when the agent was deleted more than 30 days ago.
 */
export async function requireAgentForRestore(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = await requireLockedAgent(tx, ctx, agentId);
  if (row.deleted_at !== null && !row.restorable) {
    throw new ApiError(
      "not_found",
      "This agent was deleted more than 30 days ago and can no longer be restored. Create a new one.",
    );
  }
  return row;
}

/**
 * Undoes the deletion of an agent. Its token stays revoked. `restoreAgent` in `bundles/` calls this
 * function and then disables the agent's triggers.
 * @throws ApiError `conflict` if the agent is not deleted.
 */
export async function undeleteAgent(tx: WorkspaceTransaction, row: AgentRow): Promise<void> {
  if (row.deleted_at === null)
    throw new ApiError("conflict", "This agent is not deleted; there is nothing to restore.");
  await updateAgentRow(tx, row, { deleted_at: null });
}
