import { type Agent, emptyBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { permit, principalOf } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { type EventContext, orderWorkspaceEvents, writeWorkspaceEvent } from "../events/index.ts";
import type { LimitServices } from "../limits/index.ts";
import { requireAgent, requireAgentForChange, toAgent, updateAgentRow } from "./records/index.ts";

/**
 * Lets a paused agent start runs again, and queues the runs that were held while it was paused.
 * Does nothing if the agent is not paused, or is paused only because a limit is reached.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function resumeAgent({
  ctx,
  input,
}: {
  ctx: EventContext & LimitServices;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Once<Agent>> {
  permit(ctx, "agents:write");
  const result = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await orderWorkspaceEvents(tx, input.agentId);
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    return once(tx, ctx, async () => {
      parseBody(emptyBody, input.body, {});
      if (row.paused_at === null) return toAgent(row);
      await updateAgentRow(tx, row, { paused_at: null, pause_reason: null });
      const agent = toAgent(await requireAgent(tx, ctx, input.agentId));
      await record(tx, ctx, {
        action: "agent.resume",
        target: row.id,
        data: changes(toAgent(row), agent),
      });
      const data = { actor: principalOf(ctx.actor) };
      await writeWorkspaceEvent(
        tx,
        { workspaceId: ctx.workspaceId, agentId: row.id },
        { type: "agent.resumed", data },
      );
      return agent;
    });
  });
  ctx.eventPoller.noteWritten();
  ctx.limits.releaseHeld();
  return result;
}
