import { record } from "../../base/audit/index.ts";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { missingRun } from "../../retention/index.ts";
import { deleteRunRows, lockRun } from "./delete-store.ts";

/**
 * Deletes a run that has ended, with its journal and its artifacts. The Idempotency-Key with which
 * the run was started stays bound to the deleted run. A repeated request with this key gets the
 * error `conflict`, and does not start a second run.
 * @throws ApiError `forbidden`, `not_found`; `conflict` if the run has not ended.
 */
export async function deleteRun({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string };
}): Promise<void> {
  permit(ctx, "runs:write");
  const agentIds = agentLimit(ctx);
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const run = await lockRun(tx, ctx.workspaceId, input.runId);
    if (run === undefined || agentIds?.includes(run.agent_id) === false)
      throw await missingRun(tx, ctx, input.runId);
    if (run.finished_at === null) {
      throw new ApiError(
        "conflict",
        "This run has not ended. Cancel it, then delete it once its finished_at is set.",
      );
    }
    await deleteRunRows(tx, ctx.workspaceId, [input.runId]);
    await record(tx, ctx, {
      action: "run.delete",
      target: input.runId,
      data: { agent_id: run.agent_id, status: run.status },
    });
  });
}
