import { type Agent, agentsQuery } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { parseQuery } from "../base/parse.ts";
import { listAgentRows, toAgent } from "./records/index.ts";

/**
 * Returns one page of the agents that match the filters, newest first: by default those that are
 * not deleted, with `deleted=true` those that are deleted and can be restored. A page of large
 * agents can have fewer than `limit` agents, because its size is limited.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listAgents({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Agent>> {
  permit(ctx, "agents:read");
  const agentIds = agentLimit(ctx);
  const { limit, after, view, ...filter } = parseQuery(agentsQuery, input.query);
  const page = readPage(
    { limit, after },
    { list: "agents", workspace: ctx.workspaceId, agents: agentIds, ...filter },
  );
  const { rows, hasMore } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listAgentRows(tx, ctx.workspaceId, { ...filter, view, agentIds }, page),
  );
  const last = rows.at(-1);
  return { data: rows.map(toAgent), next: hasMore && last ? page.cursor(last.id) : null };
}
