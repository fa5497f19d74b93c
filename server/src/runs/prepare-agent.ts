import { openSecret } from "../agents/index.ts";
import type { Transport } from "../base/egress/index.ts";
import { Refusal } from "../base/errors.ts";
import { demoEcho, demoEchoName, grantedTools, providerModel, type ToolServices } from "../engine/index.ts";
import { connectionOf, modelMistake, type ProviderConnection } from "../providers/index.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import type { Runtime } from "./runtime.ts";
import { readVersion } from "./version-store.ts";

/** Versions kept ready. They are immutable, and what changes about a provider is part of the cache's key. */
const maxPrepared = 2_000;

interface Pinned {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
}

/** The agent as a run has pinned it, if an earlier run of this process has prepared it. */
export function preparedAgent(runtime: Runtime, pinned: Pinned): PreparedAgent | undefined {
  return runtime.prepared.get(nameOf(pinned));
}

function nameOf({ agentId, agentVersion, providerStamp }: Pinned): string {
  return `${agentId} ${agentVersion} ${providerStamp}`;
}

/**
 * Reads the version a run has pinned and builds its model and tools.
 * @throws Refusal when its provider was deleted or its key cannot be opened.
 */
export async function prepareAgent(runtime: Runtime, pinned: Pinned): Promise<PreparedAgent> {
  const row = await readVersion(runtime.database, pinned);
  if (row === undefined) throw new Error(`agent ${pinned.agentId} has no version ${pinned.agentVersion}`);
  const granted = grantedTools(row.config.tools, servicesFor(runtime, pinned));
  const isFree = ({ name }: { name: string }) => granted.every((tool) => tool.name !== name);
  const prepared: PreparedAgent = {
    config: row.config,
    ...(await modelOf(runtime, pinned, row.config.model, row.providerId)),
    tools: [...granted, ...runtime.extraTools.filter(isFree)],
  };
  const oldest = runtime.prepared.size >= maxPrepared ? runtime.prepared.keys().next().value : undefined;
  if (oldest !== undefined) runtime.prepared.delete(oldest);
  runtime.prepared.set(nameOf(pinned), prepared);
  return prepared;
}

/** A tool gets out by egress only, and at the secrets of its own agent only. */
function servicesFor(runtime: Runtime, { workspaceId, agentId }: { workspaceId: string; agentId: string }): ToolServices {
  return {
    fetch: runtime.egress.fetch,
    openSecret: (id, origin) => openSecret(runtime.database, runtime.sealer, { workspaceId, agentId, id, origin }),
  };
}

/** After a change of the provider's address or key (its stamp) the new one is tried at once. */
async function modelOf(
  runtime: Runtime,
  { workspaceId, providerStamp }: Pinned,
  model: string,
  providerId: string | null,
): Promise<Pick<PreparedAgent, "model" | "circuit">> {
  if (providerId === null && model === demoEchoName) return { model: demoEcho, circuit: undefined };
  const { connection, transport } = await connect(runtime, workspaceId, model, providerId);
  const { name, kind, baseUrl, apiKey } = connection;
  const modelId = model.slice(model.indexOf("/") + 1);
  const mistake = modelMistake(kind, modelId);
  if (mistake !== undefined) throw new Refusal("conflict", `The model ${model} cannot be called: ${mistake}.`);
  return {
    model: providerModel(kind, { name, baseUrl, modelId, transport, ...(apiKey === undefined ? {} : { apiKey }) }),
    circuit: runtime.circuits.of({
      owner: workspaceId,
      provider: providerId === null ? "operator" : `${providerId} ${providerStamp}`,
      model,
      origin: URL.parse(baseUrl)?.origin ?? baseUrl,
    }),
  };
}

/** The pinned provider, or the operator's by the model's name: never one in place of the other. */
async function connect(
  runtime: Runtime,
  workspaceId: string,
  model: string,
  providerId: string | null,
): Promise<{ connection: ProviderConnection; transport: Transport }> {
  if (providerId === null) {
    const name = model.slice(0, model.indexOf("/"));
    const connection = runtime.operator?.usableBy(workspaceId).find((offered) => offered.name === name);
    if (connection !== undefined) return { connection, transport: runtime.outbound };
    throw new Refusal("conflict", `The operator does not offer ${name} to this workspace any more. Give the agent another model.`);
  }
  const connection = await connectionOf(runtime.database, runtime.sealer, { id: providerId, workspaceId });
  if (connection !== undefined) return { connection, transport: runtime.egress };
  throw new Refusal("conflict", `The provider of the model ${model} was deleted. Give the agent another model.`);
}
