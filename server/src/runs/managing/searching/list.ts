import { agentRunsQuery, type ListedRun, runsQuery } from "@beckon/contract";
import { requireAgent } from "../../../agents/index.ts";
import type { Context } from "../../../base/context.ts";
import { inWorkspace } from "../../../base/database/index.ts";
import { type Page, readPage } from "../../../base/page.ts";
import { parseQuery } from "../../../base/parse.ts";
import { permitRuns } from "../../access.ts";
import { fittingRuns, readRunSummaries, readRuns } from "../store.ts";
import { searchRuns } from "./search-store.ts";
import { searchTexts } from "./text-search-store.ts";

/**
 * Returns a page of the runs of the workspace or of one agent that match the query, newest first.
 * An actor that is limited to some agents gets only the runs of these agents. A page ends when
 * about 10,000 runs were searched, when the texts of 2,000 runs were searched, when the search of
 * texts has taken a second, or when the inputs and outputs on the page reach 4 MiB. It can
 * therefore have few runs, or none, although there are more.
 * @throws ApiError `forbidden`, `not_found`, `bad_request`
 */
export async function listRuns({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string | undefined; query: unknown };
}): Promise<Page<ListedRun>> {
  const limitedTo = permitRuns(ctx, "runs:read");
  const agentIds = input.agentId === undefined ? limitedTo : [input.agentId];
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    if (input.agentId !== undefined) await requireAgent(tx, ctx, input.agentId);
    const { limit, after, view, text, ...filter } = parseQuery(
      input.agentId === undefined ? runsQuery : agentRunsQuery,
      input.query,
    );
    const page = readPage(
      { limit, after },
      { list: "runs", workspace: ctx.workspaceId, agents: agentIds, ...filter, text },
    );
    const search = { agentIds, filter, below: page.below, limit };
    const { runIds, nextBelow } = await (text === undefined
      ? searchRuns(tx, ctx.workspaceId, search)
      : searchTexts(tx, ctx.workspaceId, search, { text }));
    if (view === "summary") {
      return {
        data: await readRunSummaries(tx, ctx.workspaceId, runIds),
        next: nextBelow === undefined ? null : page.cursor(nextBelow),
      };
    }
    const fitting = await fittingRuns(tx, ctx.workspaceId, runIds);
    const next = fitting.length < runIds.length ? (fitting.at(-1) ?? nextBelow) : nextBelow;
    return {
      data: await readRuns(tx, ctx.workspaceId, fitting),
      next: next === undefined ? null : page.cursor(next),
    };
  });
}
