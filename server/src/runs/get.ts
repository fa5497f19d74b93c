import type { Run } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { noRun, permitRuns } from "./access.ts";
import { findRun } from "./store.ts";

export async function getRun({ ctx, input }: { ctx: Context; input: { runId: string } }): Promise<Run> {
  const agentId = permitRuns(ctx, "runs:read");
  const run = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) => findRun(tx, ctx.workspaceId, input.runId, agentId));
  if (run === undefined) throw noRun();
  return run;
}
