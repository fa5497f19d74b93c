import { deleteRunsBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { deleteRunRows } from "./delete-store.ts";
import { selectMany } from "./select-many.ts";

/**
 * Deletes the runs that have ended and fit, each as `deleteRun` does, the newest first; at most so many at once, all or none of them.
 * @returns how many, and where to go on.
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
  // Fewer than a cancellation takes: a run may have a journal of thousands of entries, and files.
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
