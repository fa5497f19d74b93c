import { type AgentInDocument, agentsDocument } from "@beckon/contract";
import { addFromDocument } from "../agents/index.ts";
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
import { addTrigger, fillPreset, requireValidReceiving } from "../triggers/index.ts";

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
  ctx: Context & MappingServices;
  input: { body: UnparsedBody };
}): Promise<Once<{ agents: ImportedAgent[] }>> {
  permit(ctx, "agents:write");
  permitAllAgents(ctx);
  const body = await readYamlBody(input.body, ctx.workspaceId);
  const checked = await attemptAsync(() => checkDocument(ctx, body));
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const given = orThrow(checked);
      const ids = ascendingIds("agt", given.length);
      const agents: ImportedAgent[] = [];
      for (const [index, agent] of given.entries()) {
        agents.push(
          await withAgentName(index, agent, () =>
            importAgent(tx, ctx, ids[index] ?? newId("agt"), agent),
          ),
        );
      }
      return { agents };
    }),
  );
}

/** Parses the document, and checks its triggers. */
async function checkDocument(
  ctx: Context & MappingServices,
  body: UnparsedBody,
): Promise<AgentInDocument[]> {
  const { agents } = parseBody(agentsDocument, withPresets(body));
  if (agents.some(({ triggers }) => triggers.length > 0)) permit(ctx, "triggers:write");
  const endsAt = elapsed() + maxCheckMs;
  for (const [index, agent] of agents.entries()) {
    for (const { receiving } of agent.triggers) {
      if (elapsed() > endsAt) throw tooSlow();
      await withAgentName(index, agent, () => requireValidReceiving(ctx, receiving));
    }
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

async function importAgent(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
  given: AgentInDocument,
): Promise<ImportedAgent> {
  const { token, secrets_needed } = await addFromDocument(tx, ctx, agentId, given);
  const ids = ascendingIds("trg", given.triggers.length);
  const triggers: ImportedAgent["triggers"][number][] = [];
  for (const [index, body] of given.triggers.entries()) {
    const trigger = await addTrigger(tx, ctx, { agentId, body, triggerId: ids[index] });
    triggers.push({ id: trigger.id, name: trigger.name, token: trigger.token });
    const kind = trigger.receiving?.verification.kind ?? "none";
    if (kind !== "none" && !trigger.sender_secret_set)
      secrets_needed.push(`triggers.${index}.secret`);
  }
  return { id: agentId, name: given.name, token, triggers, secrets_needed };
}

/**
 * Returns new ids in ascending order, so that lists show the imported items in the order of the
 * document. The sort is a safeguard, because `newId` already returns ascending ids.
 */
function ascendingIds(prefix: "agt" | "trg", count: number): string[] {
  return Array.from({ length: count }, () => newId(prefix)).sort();
}

/** Runs `work`. If it throws `bad_request`, adds the agent's index and name to the message. */
async function withAgentName<T>(
  index: number,
  { name }: AgentInDocument,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.code !== "bad_request") throw thrown;
    throw new ApiError(thrown.code, `agents.${index} (${name}): ${thrown.message}`);
  }
}
