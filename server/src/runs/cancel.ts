import { emptyBody, type Run } from "@beckon/contract";
import { type Context, principalOf } from "../base/context.ts";
import { databaseAway, failureKind } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { permitRuns } from "./access.ts";
import { cancelStored } from "./cancel-statement.ts";
import { readRun } from "./get.ts";
import type { Runtime } from "./runtime.ts";

/** What a run says that was cancelled while it was queued. */
export const notStarted = "The run was cancelled before it began.";

/**
 * Cancels a run: a queued one ends at once, a running one as soon as its owner has stopped, a finished one stays as it is.
 * @returns the run as it is now.
 */
export async function cancelRun({
  ctx,
  input,
}: {
  ctx: Context & { runtime: Runtime };
  input: { runId: string; body: UnparsedBody };
}): Promise<Run> {
  const agentIds = permitRuns(ctx, "runs:write");
  // Says 404 for what the actor may not see, before anything is changed.
  const before = await readRun(ctx, input.runId, agentIds);
  parseBody(emptyBody, input.body, {});
  if (before.finished_at !== null) return before;
  try {
    const ref = { runId: input.runId, workspaceId: ctx.workspaceId };
    const answer = await cancelStored(ctx.database, ref, {
      eventId: newId("evt"),
      message: notStarted,
      by: { auditId: newId("aud"), actor: principalOf(ctx.actor), address: ctx.address },
    });
    if (answer === "asked") stopRun(ctx.runtime, input.runId);
    else ctx.runtime.tail.grew();
  } catch (thrown) {
    throw failureKind(thrown) === "lost" ? databaseAway(thrown) : thrown;
  }
  return readRun(ctx, input.runId, agentIds);
}

/**
 * Has a run stopped that was asked to end: here, in the process that executes it, or by any one if
 * its process is dead.
 */
export function stopRun(runtime: Runtime, runId: string): void {
  if (!stopHere(runtime, runId)) runtime.wakeUps.tell({ kind: "cancel", runId });
}

/** Stops the run if this process executes it; else it may be one that waits for a failover. @returns whether it is executed here. */
export function stopHere({ live, worker }: Pick<Runtime, "live" | "worker">, runId: string): boolean {
  const here = live.get(runId);
  if (here === undefined) worker.takeOver();
  else here.stop("cancelled");
  return here !== undefined;
}
