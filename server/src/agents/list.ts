import type { Agent } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toAgent } from "./agent.ts";
import { listAgentRows } from "./store.ts";

export async function listAgents({ ctx, input }: { ctx: Context; input: { query: unknown } }): Promise<Page<Agent>> {
  permit(ctx, "agents:read");
  const agentIds = agentLimit(ctx);
  const page = readPage(input.query, { list: "agents", workspace: ctx.workspaceId, agents: agentIds });
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) => listAgentRows(tx, ctx.workspaceId, { agentIds }, page));
  return page.page(rows.map(toAgent));
}
