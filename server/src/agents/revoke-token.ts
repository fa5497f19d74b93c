import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revokeTokens } from "../tokens/index.ts";
import { requireAgentForChange } from "./records/index.ts";

/**
 * Revokes the agent's token, and the previous token if it is still valid after a rotation. Does
 * nothing if there is no token.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function revokeAgentToken({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string };
}): Promise<void> {
  permit(ctx, "agents:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    const revoked = await revokeTokens(tx, { agentId: row.id });
    if (revoked > 0) await record(tx, ctx, { action: "agent.token.revoke", target: row.id });
  });
}
