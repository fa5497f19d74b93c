import type { Run } from "@beckon/contract";
import { requireAgent } from "../agents/index.ts";
import type { Context } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { noRun, permitRuns } from "./access.ts";
import { listRunRows } from "./store.ts";

/** Runs of the workspace, or of one agent; who is bound to agents sees theirs only. */
export async function listRuns({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string | undefined; query: unknown };
}): Promise<Page<Run>> {
  const bound = permitRuns(ctx, "runs:read");
  if (bound !== undefined && input.agentId !== undefined && !bound.includes(input.agentId)) throw noRun();
  const agentIds = input.agentId === undefined ? bound : [input.agentId];
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    if (input.agentId !== undefined) await requireAgent(tx, ctx, input.agentId);
    const page = readPage(input.query, { list: "runs", workspace: ctx.workspaceId, agents: agentIds });
    return page.page(await listRunRows(tx, ctx.workspaceId, { agentIds }, page));
  });
}
