import type { AgentVersion } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { requireAgent, requireVersion, toVersion, type VersionInput } from "../records/index.ts";

/** Returns one version of an agent. @throws ApiError `forbidden`, `not_found` */
export async function getVersion({
  ctx,
  input,
}: {
  ctx: Context;
  input: VersionInput;
}): Promise<AgentVersion> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const agent = await requireAgent(tx, ctx, input.agentId);
    return toVersion(agent, await requireVersion(tx, agent, input.version));
  });
}
