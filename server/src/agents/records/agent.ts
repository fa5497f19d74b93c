import type { Agent } from "@beckon/contract";
import { type Context, canAccessAgent } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { showSecrets } from "./secret-places.ts";
import { type AgentRow, findAgent, lockAgent } from "./store.ts";

/** The agent as responses show it. */
export function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    version: row.version,
    ...row.config,
    tools: showSecrets(row.config.tools, row.secrets),
    paused: row.paused_at !== null,
    pause_reason: row.pause_reason,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...(row.deleted_at === null ? {} : { deleted_at: row.deleted_at.toISOString() }),
    ...(row.restorable_until === null
      ? {}
      : { restorable_until: row.restorable_until.toISOString() }),
  };
}

/** The living agent. @throws ApiError `not_found` */
export async function requireAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = canAccessAgent(ctx, agentId)
    ? await findAgent(tx, ctx.workspaceId, agentId)
    : undefined;
  if (row === undefined) throw noAgent();
  return row;
}

/** The living agent, locked against other changes until the transaction ends. @throws ApiError `not_found` */
export async function requireAgentForChange(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
): Promise<AgentRow> {
  const row = canAccessAgent(ctx, agentId)
    ? await lockAgent(tx, ctx.workspaceId, agentId)
    : undefined;
  if (row === undefined || row.deleted_at !== null) throw noAgent();
  return row;
}

/** @throws ApiError `stale` when `If-Match` names another version than the current one. */
export function requireSeenVersion(ctx: Context, row: AgentRow): void {
  if (ctx.ifMatch === undefined || ctx.ifMatch === String(row.version)) return;
  throw new ApiError(
    "stale",
    `The agent is at version ${row.version} by now. Read it again and repeat your change on that.`,
  );
}

/** The error for an agent that does not exist, or that the caller is not allowed to know of. */
export function noAgent(): ApiError {
  return new ApiError("not_found", "There is no agent with this id in this workspace.");
}
