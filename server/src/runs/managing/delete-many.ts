import { deleteRunsBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { deleteRunRows } from "./delete-store.ts";
import { selectMany } from "./select-many.ts";

/**
 * Deletes up to 200 runs that have ended and match the filter, newest first, in one transaction.
 * @returns `deleted`: the number of deleted runs. `next`: the value of `after` for the next call;
 *   null if no runs are left to search.
 * @throws ApiError `forbidden`, `bad_request`
 */
export async function deleteRuns({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<{ deleted: number; next: string | null }> {
  permit(ctx, "runs:write");
  const { filter, after } = parseBody(deleteRunsBody, input.body);
  // The maximum is lower than for cancelling, because each deleted run can have thousands of
  // journal entries, and artifacts.
  const change = {
    name: "runs to delete",
    states: ["succeeded", "failed", "cancelled"],
    agentIds: agentLimit(ctx),
    max: 200,
  } as const;
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const { runIds, next } = await selectMany(tx, ctx, { filter, after }, change);
    const deleted = await deleteRunRows(tx, ctx.workspaceId, runIds);
    if (deleted > 0)
      await record(tx, ctx, {
        action: "runs.delete",
        target: ctx.workspaceId,
        data: { filter: filter ?? {}, deleted },
      });
    return { deleted, next };
  });
}
