import { deleteRunsBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace, isCancelled, limitStatements } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { deleteRunRows } from "./delete-store.ts";
import { selectMany } from "./select-many.ts";

/**
 * Maximum number of runs that one call deletes. It is lower than for cancelling, because each run
 * can have thousands of journal entries, and artifacts.
 */
const maxRuns = 200;

/**
 * Timeout of the statements that delete several runs. It is short, so that all tries together
 * usually take less than the 60 s that proxies wait. A single run has the longer timeout of the
 * connection.
 */
const manyTimeoutMs = 5_000;

/**
 * Deletes up to 200 runs that have ended and match the filter, newest first, in one transaction.
 * If PostgreSQL cancels a statement because it takes too long, tries again with a quarter of the
 * runs.
 * @returns `deleted`: the number of deleted runs. `next`: the value of `after` for the next call;
 *   null if no runs are left to search.
 * @throws ApiError `forbidden`, `bad_request`; `unavailable` if the deletion of one run takes too
 *   long
 */
export async function deleteRuns({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<{ deleted: number; next: string | null }>> {
  permit(ctx, "runs:write");
  const { tenant } = ctx.database;
  const several = limitStatements(tenant, () => manyTimeoutMs);
  for (let max = maxRuns; ; max = Math.max(1, Math.floor(max / 4))) {
    try {
      return await deleteBatch(max === 1 ? tenant : several, max);
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || !isCancelled(thrown.cause)) throw thrown;
      if (max === 1)
        // Without `Retry-After`: clients repeat every request that gets 503 with this header.
        throw new ApiError(
          "unavailable",
          "The database took too long to delete one run. Try again when it is less busy.",
          { cause: thrown },
        );
    }
  }

  function deleteBatch(pool: typeof tenant, max: number) {
    const change = {
      name: "runs to delete",
      states: ["succeeded", "failed", "cancelled"],
      agentIds: agentLimit(ctx),
      max,
    } as const;
    return inWorkspace(pool, ctx.workspaceId, (tx) =>
      once(tx, ctx, async () => {
        const { filter, after } = parseBody(deleteRunsBody, input.body);
        const { runIds, next } = await selectMany(tx, ctx, { filter, after }, change);
        const deleted = await deleteRunRows(tx, ctx.workspaceId, runIds);
        if (deleted > 0)
          await record(tx, ctx, {
            action: "runs.delete",
            target: ctx.workspaceId,
            data: { filter: filter ?? {}, deleted },
          });
        return { deleted, next };
      }),
    );
  }
}
