import { type Agent, createAgentBody } from "@beckon/contract";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { orThrow } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse, type UnparsedBody } from "../base/parse.ts";
import { type FoundProviders, modelResolver } from "../providers/index.ts";
import { findByBody } from "./find-by-body.ts";
import { planSecrets } from "./secrets/index.ts";
import { writeAgent } from "./write-agent.ts";

/**
 * Adds an agent, its first version and its token.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function createAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody };
}): Promise<Once<Agent & { token: string }>> {
  permit(ctx, "agents:write");
  permitAllAgents(ctx);
  const found = await findByBody(ctx, input.body);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, () => addAgent(tx, ctx, orThrow(input.body), found)),
  );
}

/**
 * Adds an agent in the caller's transaction. Unlike `createAgent`, it does not check permissions
 * and does not apply the Idempotency-Key. A caller that handles an HTTP request must do both.
 * @param found see `modelResolver`
 * @throws ApiError `bad_request`
 */
export async function addAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  body: unknown,
  found?: FoundProviders,
): Promise<Agent & { token: string }> {
  const given = parse(createAgentBody, body);
  const agentId = newId("agt");
  const { tools, write } = planSecrets(
    ctx.cipher,
    { workspaceId: ctx.workspaceId, agentId },
    given.tools,
    { tools: [], kept: [] },
  );
  const config = { ...given, tools };
  const resolveModel = await modelResolver(tx, ctx, [config.model], found);
  const providerId = await resolveModel(config.model);
  return writeAgent(tx, ctx, {
    agentId,
    config,
    providerId,
    secrets: write,
    action: "agent.create",
  });
}
