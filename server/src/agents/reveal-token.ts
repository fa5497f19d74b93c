import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revealToken } from "../tokens/index.ts";
import { requireAgent } from "./records/index.ts";

/** The agent's token in clear; the reveal is on record. */
export async function revealAgentToken({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string };
}): Promise<{ token: string }> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgent(tx, ctx, input.agentId);
    const token = await revealToken(tx, ctx, { agentId: row.id });
    await record(tx, ctx, { action: "agent.token.reveal", target: row.id });
    return { token };
  });
}
