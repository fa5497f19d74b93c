import type { RunFilter, RunStatus } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { readPage } from "../../base/page.ts";
import { searchRuns } from "./search-store.ts";

interface Selection {
  readonly filter?: RunFilter | undefined;
  readonly after?: string | undefined;
}

interface Change {
  /** The list to which cursors are bound. */
  readonly name: string;
  readonly states: readonly RunStatus[];
  readonly agentIds: readonly string[] | undefined;
  /** Maximum of runs in one transaction: it locks their rows, for which their owners must wait. */
  readonly max: number;
}

/**
 * Selects the next runs of a bulk change, among those that existed when its transaction began.
 * @returns the runs, and the cursor of the next call; null if there are no more.
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
