import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { revealToken } from "../tokens/index.ts";
import { requireAgent } from "./records/index.ts";

/**
 * Returns the agent's token in plain text and writes the reveal to the audit log.
 * @throws ApiError `forbidden`; `not_found`, including when the agent has no token;
 *   `secret_unreadable` if the token was encrypted with a master key that is lost.
 */
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
