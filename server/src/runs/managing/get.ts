import type { Run } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { missingRun } from "../../retention/index.ts";
import { permitRuns } from "../access.ts";
import { findRun } from "./store.ts";

/**
 * Returns a run that the actor can see.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function getRun({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string };
}): Promise<Run> {
  return readRun(ctx, input.runId, permitRuns(ctx, "runs:read"));
}

/**
 * Returns a run. Does not check the actor's permission: the caller must have done so.
 * @param agentIds the agents whose runs the actor can access; undefined if the actor can access the
 *   runs of all agents.
 * @throws ApiError `not_found`
 */
export async function readRun(
  ctx: Context,
  runId: string,
  agentIds: readonly string[] | undefined,
): Promise<Run> {
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const run = await findRun(tx, ctx.workspaceId, runId, agentIds);
    if (run === undefined) throw await missingRun(tx, ctx, runId);
    return run;
  });
}
