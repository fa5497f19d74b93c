import { type Agent, pauseAgentBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { permit, principalOf } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { type EventContext, orderWorkspaceEvents, writeWorkspaceEvent } from "../events/index.ts";
import { requireAgent, requireAgentForChange, toAgent, updateAgentRow } from "./records/index.ts";

/**
 * Pauses an agent: after the response, a request to start a run is rejected, or its run is held if
 * the trigger's `when_paused` is `hold`. Accepted runs continue. Pausing a paused agent changes the
 * reason.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function pauseAgent({
  ctx,
  input,
}: {
  ctx: EventContext;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<Agent>> {
  permit(ctx, "agents:write");
  const result = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await orderWorkspaceEvents(tx, input.agentId);
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    return once(tx, ctx, async () => {
      const { reason } = parseBody(pauseAgentBody, input.body, {});
      await updateAgentRow(tx, row, { paused_at: "now", pause_reason: reason ?? null });
      const before = toAgent(row);
      const agent = toAgent(await requireAgent(tx, ctx, input.agentId));
      await record(tx, ctx, {
        action: "agent.pause",
        target: row.id,
        data: changes(before, agent),
      });
      if (row.paused_at === null || before.pause_reason !== agent.pause_reason) {
        const data = { reason: agent.pause_reason, actor: principalOf(ctx.actor) };
        await writeWorkspaceEvent(
          tx,
          { workspaceId: ctx.workspaceId, agentId: row.id },
          { type: "agent.paused", data },
        );
      }
      return agent;
    });
  });
  ctx.eventPoller.noteWritten();
  return result;
}
