import { type Agent, emptyBody } from "@beckon/contract";
import { requireAgent, requireAgentForRestore, toAgent, undeleteAgent } from "../agents/index.ts";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { disableTriggersOf } from "../triggers/index.ts";

/**
 * Restores a deleted agent. Its triggers are disabled and it has no token, so that earlier callers
 * cannot start runs until a trigger is enabled or a token is issued. Until then its triggers reject
 * requests, even if they were set to swallow them.
 * @throws ApiError `forbidden`, `not_found`; `conflict` if the agent is not deleted.
 */
export async function restoreAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<Agent>> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForRestore(tx, ctx, input.agentId);
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      await undeleteAgent(tx, row);
      await disableTriggersOf(tx, ctx.workspaceId, input.agentId);
      await record(tx, ctx, { action: "agent.restore", target: input.agentId });
      return toAgent(await requireAgent(tx, ctx, input.agentId));
    });
  });
}
