import { cancelRunsBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import type { Context } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { permitRuns } from "../access.ts";
import { cancelAllStored } from "../journal/index.ts";
import { type CancelPorts, cancelledUnexecuted, notStarted, stopRun } from "./cancel.ts";
import { selectMany } from "./select-many.ts";

/**
 * Cancels up to 1,000 waiting, queued and running runs that match the filter, newest first, in one
 * transaction. Runs that are created after the call are not included, nor are runs that no longer
 * match the filter's states when they are cancelled.
 * @returns `cancelled`: the number of runs that this call ended or whose cancellation it requested.
 *   `next`: the value of `after` for the next call; null if no runs are left to search.
 * @throws ApiError `forbidden`, `bad_request`
 */
export async function cancelRuns({
  ctx,
  input,
}: {
  ctx: Context & { runs: CancelPorts };
  input: { body: UnparsedBody };
}): Promise<Once<{ cancelled: number; next: string | null }>> {
  const agentIds = permitRuns(ctx, "runs:write");
  const { workspaceId } = ctx;
  const change = {
    name: "runs to cancel",
    states: ["waiting", "queued", "running"],
    agentIds,
    max: 1_000,
  } as const;
  const { result, changed } = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    let changed: Awaited<ReturnType<typeof cancelAllStored>> = [];
    const result = await once(tx, ctx, async () => {
      const { filter, after } = parseBody(cancelRunsBody, input.body);
      const { runIds, next } = await selectMany(tx, ctx, { filter, after }, change);
      const states = filter?.status ?? change.states;
      changed = await cancelAllStored(tx, { runIds, workspaceId, states, message: notStarted });
      if (changed.length > 0) {
        await record(tx, ctx, {
          action: "runs.cancel",
          target: workspaceId,
          data: { filter: filter ?? {}, cancelled: changed.length },
        });
      }
      return { cancelled: changed.length, next };
    });
    return { result, changed };
  });
  for (const { runId, result } of changed) {
    if (result === "requested") stopRun(ctx.runs, runId);
    else ctx.runs.reports.ended({ runId }, cancelledUnexecuted);
  }
  if (changed.length > 0) ctx.runs.eventPoller.noteWritten();
  return result;
}
