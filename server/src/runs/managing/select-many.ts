import type { RunFilter, RunStatus } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { readPage } from "../../base/page.ts";
import { searchRuns } from "./searching/index.ts";

interface Selection {
  readonly filter?: RunFilter | undefined;
  readonly after?: string | undefined;
}

interface Change {
  /**
   * Name of the list of runs to change, for example `runs to cancel`. It is part of the cursor's
   * hash, so that a cursor of one kind of change is rejected by another.
   */
  readonly name: string;
  readonly states: readonly RunStatus[];
  readonly agentIds: readonly string[] | undefined;
  /**
   * Maximum number of runs in one transaction. The transaction locks their rows, and the processes
   * that execute the runs must wait until it ends.
   */
  readonly max: number;
}

/**
 * Selects the next runs to cancel or delete together: runs in `change.states` that match the
 * filter, newest first, at most `max`. `searchRuns` leaves out runs that were created after the
 * transaction began.
 * @returns `runIds`: the ids of the runs. `next`: the cursor for the next call; null if no runs are
 *   left to search.
 */
export async function selectMany(
  tx: WorkspaceTransaction,
  ctx: Context,
  { filter = {}, after }: Selection,
  change: Change,
): Promise<{ runIds: readonly string[]; next: string | null }> {
  const { agentIds, states, max } = change;
  const page = readPage(
    { after },
    { list: change.name, workspace: ctx.workspaceId, agents: agentIds, ...filter },
    undefined,
    "body",
  );
  const { runIds, nextBelow } = await searchRuns(tx, ctx.workspaceId, {
    agentIds,
    filter,
    change: states,
    below: page.below,
    limit: max,
  });
  return { runIds, next: nextBelow === undefined ? null : page.cursor(nextBelow) };
}
