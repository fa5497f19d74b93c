import { Refusal } from "../base/errors.ts";
import { demoEcho, demoEchoName, grantedTools, type Model, openAICompatibleModel } from "../engine/index.ts";
import { connectionOf } from "../providers/index.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import type { Runtime } from "./runtime.ts";
import { readVersion } from "./version-store.ts";

/** Versions kept ready. They are immutable, and what changes about a provider is part of the cache's key. */
const maxPrepared = 2_000;

/**
 * Reads the version a run has pinned and builds its model and tools.
 * @throws Refusal when its provider was deleted or its key cannot be opened.
 */
export async function prepareAgent(
  runtime: Runtime,
  pinned: { workspaceId: string; agentId: string; agentVersion: number; providerStamp: string | null },
): Promise<PreparedAgent> {
  const key = `${pinned.agentId} ${pinned.agentVersion} ${pinned.providerStamp}`;
  const known = runtime.prepared.get(key);
  if (known !== undefined) return known;
  const row = await readVersion(runtime.database, pinned);
  if (row === undefined) throw new Error(`agent ${pinned.agentId} has no version ${pinned.agentVersion}`);
  const prepared: PreparedAgent = {
    config: row.config,
    model: await modelOf(runtime, pinned.workspaceId, row.config.model, row.providerId),
    tools: [...grantedTools(row.config.tools), ...runtime.extraTools],
  };
  const oldest = runtime.prepared.size >= maxPrepared ? runtime.prepared.keys().next().value : undefined;
  if (oldest !== undefined) runtime.prepared.delete(oldest);
  runtime.prepared.set(key, prepared);
  return prepared;
}

async function modelOf(runtime: Runtime, workspaceId: string, model: string, providerId: string | null): Promise<Model> {
  if (providerId === null && model === demoEchoName) return demoEcho;
  const connection =
    providerId === null ? undefined : await connectionOf(runtime.database, runtime.sealer, { id: providerId, workspaceId });
  if (connection === undefined) {
    throw new Refusal("conflict", `The provider of the model ${model} was deleted. Give the agent another model.`);
  }
  return openAICompatibleModel({
    name: connection.name,
    baseUrl: connection.baseUrl,
    ...(connection.apiKey === undefined ? {} : { apiKey: connection.apiKey }),
    modelId: model.slice(model.indexOf("/") + 1),
    fetch: runtime.fetch,
  });
}
