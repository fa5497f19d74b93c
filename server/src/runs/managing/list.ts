import { agentRunsQuery, type Run, runsQuery } from "@beckon/contract";
import { requireAgent } from "../../agents/index.ts";
import type { Context } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { type Page, readPage } from "../../base/page.ts";
import { parseQuery } from "../../base/parse.ts";
import { noRun, permitRuns } from "../access.ts";
import { searchRuns } from "./search-store.ts";
import { fittingRuns, readRuns } from "./store.ts";

/**
 * Runs of the workspace, or of one agent, that fit the query; who is bound to agents sees theirs
 * only. A page may hold fewer than its limit, even none, and yet have a `next`: it has looked at as
 * many runs as one page may, or holds as many bytes.
 */
export async function listRuns({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string | undefined; query: unknown };
}): Promise<Page<Run>> {
  const bound = permitRuns(ctx, "runs:read");
  if (bound !== undefined && input.agentId !== undefined && !bound.includes(input.agentId))
    throw noRun();
  const agentIds = input.agentId === undefined ? bound : [input.agentId];
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    if (input.agentId !== undefined) await requireAgent(tx, ctx, input.agentId);
    const { limit, after, ...filter } = parseQuery(
      input.agentId === undefined ? runsQuery : agentRunsQuery,
      input.query,
    );
    const page = readPage(
      { limit, after },
      { list: "runs", workspace: ctx.workspaceId, agents: agentIds, ...filter },
    );
    const { runIds, goOn } = await searchRuns(tx, ctx.workspaceId, {
      agentIds,
      filter,
      below: page.below,
      limit,
    });
    const fitting = await fittingRuns(tx, ctx.workspaceId, runIds);
    const next = fitting.length < runIds.length ? (fitting.at(-1) ?? goOn) : goOn;
    return {
      data: await readRuns(tx, ctx.workspaceId, fitting),
      next: next === undefined ? null : page.cursor(next),
    };
  });
}
