import { emptyBody, type Run } from "@beckon/contract";
import { type Context, principalOf } from "../../base/context.ts";
import { type ProcessMessages, unavailableIfLost } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { EventPoller } from "../../events/index.ts";
import { permitRuns, visibleRun } from "../access.ts";
import type { WorkerCalls } from "../executing/index.ts";
import { cancelStored } from "../journal/index.ts";
import type { RunReports } from "../reports.ts";
import type { LiveRuns } from "../subscribing/index.ts";
import { readRun } from "./get.ts";

/** The services that cancelling runs needs. */
export interface CancelPorts {
  readonly live: LiveRuns;
  readonly worker: Pick<WorkerCalls, "takeOver">;
  readonly processMessages: Pick<ProcessMessages, "send">;
  readonly eventPoller: Pick<EventPoller, "noteWritten">;
  readonly reports: Pick<RunReports, "ended">;
}

/** Error message of a run that was cancelled while it was queued or held. */
export const notStarted = "The run was cancelled while it was queued or held.";

export const cancelledUnexecuted = {
  status: "cancelled",
  error: { code: "cancelled", message: notStarted },
} as const;

/**
 * Cancels a run. A queued or held run ends at once. A running one ends when the process that
 * executes it has stopped it. A run that has already ended does not change.
 * @returns the run as it is after the call; see `visibleRun`. A run that was running may not have
 *   ended yet.
 * @throws ApiError `forbidden`, `not_found`, `bad_request`; `unavailable` if the database cannot be
 *   reached.
 */
export async function cancelRun({
  ctx,
  input,
}: {
  ctx: Context & { runs: CancelPorts };
  input: { runId: string; body: UnparsedBody };
}): Promise<Run> {
  const agentIds = permitRuns(ctx, "runs:write");
  // Throws `not_found`, before anything changes, if the actor cannot see the run.
  const before = await readRun(ctx, input.runId, agentIds);
  parseBody(emptyBody, input.body, {});
  if (before.finished_at !== null) return visibleRun(ctx, before);
  try {
    const ref = { runId: input.runId, workspaceId: ctx.workspaceId };
    const result = await cancelStored(ctx.database, ref, {
      eventId: newId("evt"),
      message: notStarted,
      by: { auditId: newId("aud"), actor: principalOf(ctx.actor), address: ctx.address },
    });
    if (result === "requested") stopRun(ctx.runs, input.runId);
    else ctx.runs.eventPoller.noteWritten();
    if (result === "cancelled")
      ctx.runs.reports.ended({ ...ref, agentId: before.agent_id }, cancelledUnexecuted);
  } catch (thrown) {
    throw unavailableIfLost(thrown);
  }
  return visibleRun(ctx, await readRun(ctx, input.runId, agentIds));
}

/**
 * Stops a run whose cancellation was requested: directly if this process executes it, otherwise by
 * notifying the other processes.
 */
export function stopRun(ports: CancelPorts, runId: string): void {
  if (!stopHere(ports, runId)) ports.processMessages.send({ kind: "cancel", runId });
}

/**
 * Stops the run if this process executes it. Otherwise makes the worker take over the runs of dead
 * processes, since the run may belong to one of these.
 * @returns whether this process executes the run.
 */
export function stopHere(
  { live, worker }: Pick<CancelPorts, "live" | "worker">,
  runId: string,
): boolean {
  const here = live.get(runId);
  if (here === undefined) worker.takeOver();
  else here.stop("cancelled");
  return here !== undefined;
}
