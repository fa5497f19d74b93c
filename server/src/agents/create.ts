import { type Agent, createAgentBody } from "@beckon/contract";
import type { z } from "zod";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parse, parseBody, type UnparsedBody } from "../base/parse.ts";
import { type FoundProviders, modelResolver } from "../providers/index.ts";
import { findOperatorProviders } from "./find-operator-providers.ts";
import { requireCallableTools, type ToolAddressServices } from "./require-callable-tools.ts";
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
  ctx: Context & ToolAddressServices;
  input: { body: UnparsedBody };
}): Promise<Once<Agent & { token: string }>> {
  permit(ctx, "agents:write");
  permitAllAgents(ctx);
  const foundProviders = await findOperatorProviders(ctx, input.body);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const given = parseBody(createAgentBody, input.body);
      requireCallableTools(ctx, given.tools);
      return insertAgent(tx, ctx, given, foundProviders);
    }),
  );
}

/**
 * Adds an agent in the caller's transaction. Unlike `createAgent`, it does not check permissions
 * and the addresses of tools, and does not apply the Idempotency-Key. A caller that handles an HTTP
 * request must do all of this.
 * @param foundProviders see `found` of `modelResolver`
 * @throws ApiError `bad_request`
 */
export async function addAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  body: unknown,
  foundProviders?: FoundProviders,
): Promise<Agent & { token: string }> {
  return insertAgent(tx, ctx, parse(createAgentBody, body), foundProviders);
}

async function insertAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  given: z.output<typeof createAgentBody>,
  foundProviders?: FoundProviders,
): Promise<Agent & { token: string }> {
  const agentId = newId("agt");
  const { tools, write } = planSecrets(
    ctx.cipher,
    { workspaceId: ctx.workspaceId, agentId },
    given.tools,
    { tools: [], kept: [] },
  );
  const config = { ...given, tools };
  const resolveModel = await modelResolver(tx, ctx, [config.model], foundProviders);
  const providerId = await resolveModel(config.model);
  return writeAgent(tx, ctx, {
    agentId,
    config,
    providerId,
    secrets: write,
    action: "agent.create",
  });
}
