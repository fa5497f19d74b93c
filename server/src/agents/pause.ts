import { type Agent, pauseAgentBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireAgent, requireAgentForChange, toAgent, updateAgentRow } from "./records/index.ts";

/** From the answer on every start is refused; accepted runs go on. Pausing a paused agent changes the reason. */
export async function pauseAgent({ ctx, input }: { ctx: Context; input: { agentId: string; body: UnparsedBody } }): Promise<Once<Agent>> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    return once(tx, ctx, async () => {
      const { reason } = parseBody(pauseAgentBody, input.body, {});
      await updateAgentRow(tx, row, { paused_at: "now", pause_reason: reason ?? null });
      const agent = toAgent(await requireAgent(tx, ctx, input.agentId));
      await record(tx, ctx, { action: "agent.pause", target: row.id, data: changes(toAgent(row), agent) });
      return agent;
    });
  });
}
