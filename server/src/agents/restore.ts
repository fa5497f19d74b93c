import { type Context, canAccessAgent } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type AgentRow, lockAgent, noAgent, updateAgentRow } from "./records/index.ts";

/**
 * The agent, living or deleted, locked against other changes until the transaction ends.
 * @throws ApiError `not_found`, also for one that was deleted too long ago.
 */
export async function requireAgentForRestore(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = canAccessAgent(ctx, agentId)
    ? await lockAgent(tx, ctx.workspaceId, agentId)
    : undefined;
  if (row === undefined) throw noAgent();
  if (row.deleted_at !== null && !row.restorable) {
    throw new ApiError(
      "not_found",
      "This agent was deleted more than 30 days ago. It cannot be restored any more; make a new one.",
    );
  }
  return row;
}

/**
 * Brings a deleted agent's row back, without a token: part of the verb in `triggers/`, which knows what hangs on it.
 * @throws ApiError `conflict` when it is not deleted.
 */
export async function undeleteAgent(tx: WorkspaceTransaction, row: AgentRow): Promise<void> {
  if (row.deleted_at === null)
    throw new ApiError("conflict", "This agent is not deleted; there is nothing to restore.");
  await updateAgentRow(tx, row, { deleted_at: null });
}
