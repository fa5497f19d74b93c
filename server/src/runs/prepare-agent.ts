import { openSecret } from "../agents/index.ts";
import type { Transport } from "../base/egress/index.ts";
import { Refusal } from "../base/errors.ts";
import {
  type Circuit,
  circuitPolicy,
  createCircuit,
  demoEcho,
  demoEchoName,
  grantedTools,
  type Model,
  providerModel,
  type ToolServices,
} from "../engine/index.ts";
import { connectionOf, modelMistake, type ProviderConnection } from "../providers/index.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import type { Runtime } from "./runtime.ts";
import { readVersion } from "./version-store.ts";

/** Versions kept ready. They are immutable, and what changes about a provider is part of the cache's key. */
const maxPrepared = 2_000;

/** Providers whose state is remembered. One that is forgotten counts as well again. */
const maxCircuits = 1_000;

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
    model: await modelOf(runtime, pinned.workspaceId, row.config.model, row.providerId),
    circuit: circuitOf(runtime, row.config.model, row.providerId, pinned.providerStamp),
    tools: [...granted, ...runtime.extraTools.filter(isFree)],
  };
  const oldest = runtime.prepared.size >= maxPrepared ? runtime.prepared.keys().next().value : undefined;
  if (oldest !== undefined) runtime.prepared.delete(oldest);
  runtime.prepared.set(nameOf(pinned), prepared);
  return prepared;
}

/** Of one provider with one address and key: after a change of either the new one is tried at once. */
function circuitOf(runtime: Runtime, model: string, providerId: string | null, stamp: string | null): Circuit | undefined {
  if (providerId === null && model === demoEchoName) return undefined;
  const id = providerId === null ? `operator ${model.slice(0, model.indexOf("/"))}` : `${providerId} ${stamp}`;
  const circuit = runtime.circuits.get(id) ?? createCircuit(circuitPolicy(runtime.room.max));
  runtime.circuits.delete(id);
  runtime.circuits.set(id, circuit);
  const oldest = runtime.circuits.size > maxCircuits ? runtime.circuits.keys().next().value : undefined;
  if (oldest !== undefined) runtime.circuits.delete(oldest);
  return circuit;
}

/** A tool gets out by egress only, and at the secrets of its own agent only. */
function servicesFor(runtime: Runtime, { workspaceId, agentId }: { workspaceId: string; agentId: string }): ToolServices {
  return {
    fetch: runtime.egress.fetch,
    openSecret: (id, origin) => openSecret(runtime.database, runtime.sealer, { workspaceId, agentId, id, origin }),
  };
}

async function modelOf(runtime: Runtime, workspaceId: string, model: string, providerId: string | null): Promise<Model> {
  if (providerId === null && model === demoEchoName) return demoEcho;
  const { connection, transport } = await connect(runtime, workspaceId, model, providerId);
  const { name, kind, baseUrl, apiKey } = connection;
  const modelId = model.slice(model.indexOf("/") + 1);
  const mistake = modelMistake(kind, modelId);
  if (mistake !== undefined) throw new Refusal("conflict", `The model ${model} cannot be called: ${mistake}.`);
  return providerModel(kind, { name, baseUrl, modelId, transport, ...(apiKey === undefined ? {} : { apiKey }) });
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
