import type { Agent } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { requireAgent, toAgent } from "./records/index.ts";

/** Returns an agent. @throws ApiError `forbidden`, `not_found` */
export async function getAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string };
}): Promise<Agent> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) =>
    toAgent(await requireAgent(tx, ctx, input.agentId)),
  );
}
