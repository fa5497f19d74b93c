import { type Agent, createAgentBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, permitBeyondAgents, principalOf } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse } from "../base/parse.ts";
import { resolveModel } from "../providers/index.ts";
import { issueToken } from "../tokens/index.ts";
import { requireAgent, toAgent } from "./agent.ts";
import { planSecrets } from "./plan-secrets.ts";
import { writeSecrets } from "./secret-store.ts";
import { insertAgent } from "./store.ts";

/** Adds an agent, its first version and its token. */
export async function createAgent({ ctx, input }: { ctx: Context; input: { body: unknown } }): Promise<Once<Agent & { token: string }>> {
  permit(ctx, "agents:write");
  permitBeyondAgents(ctx);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) => once(tx, ctx, () => addAgent(tx, ctx, input.body)));
}

/** The same inside a transaction of the caller's, who has checked the permission. */
export async function addAgent(tx: WorkspaceTransaction, ctx: Context, body: unknown): Promise<Agent & { token: string }> {
  const given = parse(createAgentBody, body);
  const agentId = newId("agt");
  const { tools, ...secrets } = planSecrets(ctx.sealer, { workspaceId: ctx.workspaceId, agentId }, given.tools, { tools: [], kept: [] });
  const config = { ...given, tools };
  await insertAgent(tx, {
    agentId,
    workspaceId: ctx.workspaceId,
    version: 1,
    config,
    providerId: await resolveModel(tx, ctx, config.model),
    createdBy: principalOf(ctx.actor),
  });
  await writeSecrets(tx, { workspaceId: ctx.workspaceId, agentId }, secrets);
  const token = await issueToken(tx, ctx, { agentId }, { graceSeconds: 0 });
  await record(tx, ctx, { action: "agent.create", target: agentId, data: { name: config.name, model: config.model } });
  return { ...toAgent(await requireAgent(tx, ctx, agentId)), token };
}
