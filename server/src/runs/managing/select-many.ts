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
  /** What the cursor is bound to. */
  readonly name: string;
  readonly states: readonly RunStatus[];
  readonly agentIds: readonly string[] | undefined;
  /** At once: the transaction holds their rows, and their owners wait for it. */
  readonly max: number;
}

/**
 * The next runs that a change of many is about, among those there were when its transaction began.
 * @returns with them the cursor with which the caller goes on; null: there are no more.
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
  const { runIds, goOn } = await searchRuns(tx, ctx.workspaceId, {
    agentIds,
    filter,
    change: states,
    below: page.below,
    limit: max,
  });
  return { runIds, next: goOn === undefined ? null : page.cursor(goOn) };
}
