import { record } from "../base/audit/index.ts";
import { type Context, permit, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revokeTokens } from "../tokens/index.ts";
import { requireAgentForChange, updateAgentRow } from "./records/index.ts";

/**
 * Marks the agent as deleted; it can be restored for 30 days. Its token and triggers stop working
 * at once. Accepted runs continue and stay readable; runs that are held while the agent is paused
 * stay held.
 * @throws ApiError `forbidden`, `not_found`; `stale` if `If-Match` is not the current version.
 */
export async function deleteAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string };
}): Promise<void> {
  permit(ctx, "agents:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    requireMatchingVersion(ctx, "agent", row.version);
    await updateAgentRow(tx, row, { deleted_at: "now" });
    await revokeTokens(tx, { agentId: row.id });
    await record(tx, ctx, { action: "agent.delete", target: row.id, data: { name: row.name } });
  });
}
