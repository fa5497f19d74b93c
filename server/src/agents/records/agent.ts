import type { Agent } from "@beckon/contract";
import { type Context, canAccessAgent } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { showSecrets } from "./secret-locations.ts";
import { type AgentRow, findAgent, lockAgent } from "./store.ts";

/** Returns the agent as responses show it. */
export function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    version: row.version,
    ...row.config,
    tools: showSecrets(row.config.tools, row.secrets),
    provider_id: row.provider_id,
    paused: row.paused_at !== null || row.paused_by_limit,
    paused_by: row.paused_at !== null ? "member" : row.paused_by_limit ? "limit" : null,
    pause_reason: row.pause_reason,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...(row.deleted_at === null ? {} : { deleted_at: row.deleted_at.toISOString() }),
    ...(row.restorable_until === null
      ? {}
      : { restorable_until: row.restorable_until.toISOString() }),
  };
}

/**
 * Returns the agent.
 * @throws ApiError `not_found`, including when the agent is deleted or the caller cannot access it.
 */
export async function requireAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = canAccessAgent(ctx, agentId)
    ? await findAgent(tx, ctx.workspaceId, agentId)
    : undefined;
  if (row === undefined) throw agentNotFound();
  return row;
}

/**
 * Returns the agent, deleted or not, and locks its row against other changes until the transaction
 * ends.
 * @throws ApiError `not_found`, including when the caller cannot access the agent.
 */
export async function requireLockedAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = canAccessAgent(ctx, agentId)
    ? await lockAgent(tx, ctx.workspaceId, agentId)
    : undefined;
  if (row === undefined) throw agentNotFound();
  return row;
}

/**
 * Like `requireLockedAgent`, but only for an agent that is not deleted.
 * @throws ApiError `not_found`, including when the agent is deleted or the caller cannot access it.
 */
export async function requireAgentForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = await requireLockedAgent(tx, ctx, agentId);
  if (row.deleted_at !== null) throw agentNotFound();
  return row;
}

/** Returns the error for an agent that does not exist or that the caller is not allowed to see. */
function agentNotFound(): ApiError {
  return new ApiError("not_found", "There is no agent with this id in this workspace.");
}
