import { emptyBody, type Run } from "@beckon/contract";
import { type Context, principalOf } from "../../base/context.ts";
import { type ProcessMessages, unavailableIfLost } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { EventPoller } from "../../events/index.ts";
import { permitRuns } from "../access.ts";
import type { WorkerCalls } from "../executing/index.ts";
import { cancelStored } from "../journal/index.ts";
import type { LiveRuns } from "../subscribing/index.ts";
import { readRun } from "./get.ts";

/** What cancelling runs needs of this process. */
export interface CancelPorts {
  readonly live: LiveRuns;
  readonly worker: Pick<WorkerCalls, "takeOver">;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly tail: Pick<EventPoller, "noteWritten">;
}

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
  ctx: Context & { runs: CancelPorts };
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
    if (answer === "asked") stopRun(ctx.runs, input.runId);
    else ctx.runs.tail.noteWritten();
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
  return readRun(ctx, input.runId, agentIds);
}

/**
 * Has a run stopped that was asked to end: here, in the process that executes it, or by any one if
 * its process is dead.
 */
export function stopRun(ports: CancelPorts, runId: string): void {
  if (!stopHere(ports, runId)) ports.processMessages.send({ kind: "cancel", runId });
}

/** Stops the run if this process executes it; else it may be one that waits for a failover. @returns whether it is executed here. */
export function stopHere(
  { live, worker }: Pick<CancelPorts, "live" | "worker">,
  runId: string,
): boolean {
  const here = live.get(runId);
  if (here === undefined) worker.takeOver();
  else here.stop("cancelled");
  return here !== undefined;
}
