import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revokeTokens } from "../tokens/index.ts";
import { requireAgentForChange } from "./records/index.ts";

/** Ends the agent's token, a predecessor in its grace too. Repeating it changes nothing. */
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
    const ended = await revokeTokens(tx, { agentId: row.id });
    if (ended > 0) await record(tx, ctx, { action: "agent.token.revoke", target: row.id });
  });
}
