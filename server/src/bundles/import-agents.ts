import { setImmediate } from "node:timers/promises";
import { type AgentInDocument, agentsDocument } from "@beckon/contract";
import {
  type PreparedAgent,
  prepareFromDocument,
  type ResolvedAgent,
  requireCallableTools,
  type ToolAddressServices,
  writeAgents,
} from "../agents/index.ts";
import { recordAll } from "../base/audit/index.ts";
import { elapsed } from "../base/clock.ts";
import { type Context, permit, permitAllAgents } from "../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError, attemptAsync, orThrow } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { fieldOf, isJsonObject } from "../base/json/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { readYamlBody } from "../base/yaml/index.ts";
import type { MappingServices } from "../mapping/index.ts";
import { type FoundProviders, findNamedByModels, modelResolver } from "../providers/index.ts";
import {
  fillPreset,
  type PreparedTrigger,
  prepareTrigger,
  requireValidReceiving,
  writeTriggers,
} from "../triggers/index.ts";

/** Maximum time of the checks of all filters and templates of a document. */
const maxCheckMs = 10_000;

export interface ImportedAgent {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  /** Without the triggers' URLs. The code in `http/` adds them, because it knows the public URL. */
  readonly triggers: readonly {
    readonly id: string;
    readonly name: string;
    readonly token: string;
  }[];
  /** Paths of secrets that the document leaves out, for example `tools.0.headers.authorization`. */
  readonly secrets_needed: readonly string[];
}

/**
 * Adds the agents of a document with their triggers, in one transaction. Existing agents are never
 * changed: every imported agent gets a new id and a new token. The ids ascend in the document's
 * order.
 * @throws ApiError `bad_request`, `forbidden`, `unavailable`
 */
export async function importAgents({
  ctx,
  input,
}: {
  ctx: Context & MappingServices & ToolAddressServices;
  input: { body: UnparsedBody };
}): Promise<Once<{ agents: ImportedAgent[] }>> {
  permit(ctx, "agents:write");
  permitAllAgents(ctx);
  const body = await readYamlBody(input.body, ctx.workspaceId);
  const prepared = await attemptAsync(async () => {
    const agents = await prepareAll(ctx, await checkDocument(ctx, body));
    return { agents, foundProviders: await findNamedByModels(ctx, modelsOf(agents)) };
  });
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const { agents, foundProviders } = orThrow(prepared);
      await writeAll(tx, ctx, agents, foundProviders);
      return { agents: agents.map(({ imported }) => imported) };
    }),
  );
}

/** Parses the document, and checks its tools and triggers. */
async function checkDocument(
  ctx: Context & MappingServices & ToolAddressServices,
  body: UnparsedBody,
): Promise<AgentInDocument[]> {
  const { agents } = parseBody(agentsDocument, withPresets(body));
  if (agents.some(({ triggers }) => triggers.length > 0)) permit(ctx, "triggers:write");
  const endsAt = elapsed() + maxCheckMs;
  for (const [index, agent] of agents.entries()) {
    await withName(`agents.${index}`, agent, async () => {
      requireCallableTools(ctx, agent.tools);
      for (const [position, trigger] of agent.triggers.entries()) {
        if (elapsed() > endsAt) throw tooSlow();
        await withName(`triggers.${position}`, trigger, () =>
          requireValidReceiving(ctx, trigger.receiving),
        );
      }
    });
  }
  return agents;
}

function tooSlow(): ApiError {
  return new ApiError(
    "unavailable",
    `Checking the filters and templates of the triggers took more than ${maxCheckMs / 1_000} seconds. Import fewer agents at a time, or try again later.`,
    { retryAfter: 10 },
  );
}

/** Adds the settings of the preset that a trigger names, as when a single trigger is created. */
function withPresets(body: UnparsedBody): UnparsedBody {
  const agents = body.ok ? fieldOf(body.value, "agents") : undefined;
  if (!body.ok || !isJsonObject(body.value) || !Array.isArray(agents)) return body;
  const filled = agents.map((agent: unknown) => {
    const triggers = fieldOf(agent, "triggers");
    if (!isJsonObject(agent) || !Array.isArray(triggers)) return agent;
    return { ...agent, triggers: triggers.map(fillPreset) };
  });
  return { ok: true, value: { ...body.value, agents: filled } };
}

/** An agent of the document with its triggers, before they are inserted. */
interface PreparedImport {
  readonly agent: PreparedAgent;
  readonly triggers: readonly PreparedTrigger[];
  readonly imported: ImportedAgent;
}

/**
 * Generates all ids, tokens and rows. This is done before the transaction, to keep it short: events
 * and usage are read in the order of commits, so readers wait for the oldest open transaction.
 */
async function prepareAll(
  ctx: Context,
  given: readonly AgentInDocument[],
): Promise<PreparedImport[]> {
  const ids = ascendingIds("agt", given.length);
  const prepared: PreparedImport[] = [];
  for (const [index, agent] of given.entries()) {
    prepared.push(prepareOne(ctx, ids[index] ?? newId("agt"), agent));
    // Lets other requests proceed: encrypting all secrets of a large document takes long.
    await setImmediate();
  }
  return prepared;
}

function prepareOne(ctx: Context, agentId: string, given: AgentInDocument): PreparedImport {
  const { agent, secretsNeeded } = prepareFromDocument(ctx, agentId, given);
  const ids = ascendingIds("trg", given.triggers.length);
  const triggers = given.triggers.map((body, index) =>
    prepareTrigger(ctx, { agentId, triggerId: ids[index] ?? newId("trg"), body }),
  );
  // No document has the secrets with which senders sign.
  const senderSecrets = given.triggers.flatMap(({ receiving }, index) =>
    (receiving?.verification.kind ?? "none") === "none" ? [] : [`triggers.${index}.secret`],
  );
  return {
    agent,
    triggers,
    imported: {
      id: agentId,
      name: given.name,
      token: agent.token.text,
      triggers: triggers.map(({ row: { id, name }, token }) => ({ id, name, token: token.text })),
      secrets_needed: [...secretsNeeded, ...senderSecrets],
    },
  };
}

const modelsOf = (prepared: readonly PreparedImport[]) =>
  prepared.map(({ agent }) => agent.config.model);

/** Inserts everything. The number of statements depends only on that of the tools' secrets. */
async function writeAll(
  tx: WorkspaceTransaction,
  ctx: Context,
  prepared: readonly PreparedImport[],
  foundProviders: FoundProviders,
): Promise<void> {
  const resolveModel = await modelResolver(tx, ctx, modelsOf(prepared), foundProviders);
  const agents: ResolvedAgent[] = [];
  for (const [index, { agent }] of prepared.entries()) {
    const { config } = agent;
    const providerId = await withName(`agents.${index}`, config, () => resolveModel(config.model));
    agents.push({ ...agent, providerId });
  }
  await writeAgents(tx, ctx, agents);
  await writeTriggers(
    tx,
    prepared.flatMap(({ triggers }) => triggers),
  );
  const inOrder = prepared.flatMap(({ agent, triggers }) => [agent, ...triggers]);
  await recordAll(
    tx,
    ctx,
    inOrder.map(({ entry }) => entry),
  );
}

/**
 * Returns new ids in ascending order, so that lists show the imported items in the order of the
 * document. The sort is a safeguard, because `newId` already returns ascending ids.
 */
function ascendingIds(prefix: "agt" | "trg", count: number): string[] {
  return Array.from({ length: count }, () => newId(prefix)).sort();
}

/**
 * Returns the result of `work`.
 * @throws ApiError those of `work`; `bad_request` begins with the path and the name of the resource
 */
async function withName<T>(
  path: string,
  { name }: { readonly name: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== "bad_request") throw thrown;
    throw new ApiError(thrown.code, `${path} (${name}): ${thrown.message}`);
  }
}
