import { LRUCache } from "lru-cache";
import { openSecret } from "../../agents/index.ts";
import type { OperatorProviders } from "../../base/context.ts";
import type { Database } from "../../base/database/index.ts";
import type { Transport } from "../../base/egress/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { SecretCipher } from "../../base/secrets/index.ts";
import {
  type Circuits,
  demoEcho,
  demoEchoName,
  grantedTools,
  providerModel,
  type Tool,
  type ToolServices,
} from "../../engine/index.ts";
import { connectionOf, modelMistake, type ProviderConnection } from "../../providers/index.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { readVersion } from "./version-store.ts";

/** Versions kept ready. They are immutable, and what changes about a provider is part of the cache's key. */
const maxPrepared = 2_000;

/** What the models and tools of agents are built from. */
export interface AgentCacheOptions {
  readonly database: Database;
  readonly cipher: SecretCipher;
  /** Whether each model answers, as this process sees it. */
  readonly circuits: Circuits;
  /** Tools beside the built-in ones, granted to every agent: the operator's own. */
  readonly extraTools: readonly Tool[];
  /** For what the operator chose: its own providers. */
  readonly outbound: Transport;
  /** For what a workspace chose: its providers, and where its tools go. */
  readonly egress: Transport;
  readonly operator: OperatorProviders | undefined;
}

interface PinnedAgent {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
}

/** Agents that runs of this process have executed lately, each with its model and tools. */
export class AgentCache {
  readonly #options: AgentCacheOptions;
  readonly #prepared = new LRUCache<string, PreparedAgent>({ max: maxPrepared });

  constructor(options: AgentCacheOptions) {
    this.#options = options;
  }

  /** Returns the agent that a run has pinned, if an earlier run of this process has prepared it. */
  find(pinned: PinnedAgent): PreparedAgent | undefined {
    return this.#prepared.get(nameOf(pinned));
  }

  /**
   * Reads the version a run has pinned and builds its model and tools.
   * @throws ApiError when its provider was deleted or its key cannot be opened.
   */
  async prepare(pinned: PinnedAgent): Promise<PreparedAgent> {
    const row = await readVersion(this.#options.database, pinned);
    if (row === undefined)
      throw new Error(`agent ${pinned.agentId} has no version ${pinned.agentVersion}`);
    const granted = grantedTools(row.config.tools, this.#toolServices(pinned));
    const isFree = ({ name }: { name: string }) => granted.every((tool) => tool.name !== name);
    const { isDiscovered, ...model } = await this.#modelOf(
      pinned,
      row.config.model,
      row.providerId,
    );
    const prepared: PreparedAgent = {
      config: row.config,
      ...model,
      tools: [...granted, ...this.#options.extraTools.filter(isFree)],
    };
    if (!isDiscovered) this.#prepared.set(nameOf(pinned), prepared);
    return prepared;
  }

  /** A tool reaches the network by egress only, and opens secrets of its own agent only. */
  #toolServices({ workspaceId, agentId }: PinnedAgent): ToolServices {
    return {
      fetch: this.#options.egress.fetch,
      openSecret: (id, origin) =>
        openSecret(this.#options.database, this.#options.cipher, {
          workspaceId,
          agentId,
          id,
          origin,
        }),
    };
  }

  /**
   * After a change of the provider's address or key (its stamp) the new one is tried at once.
   * `isDiscovered`: a model server of this machine, which may be gone before the next run.
   */
  async #modelOf(
    { workspaceId, providerStamp }: PinnedAgent,
    model: string,
    providerId: string | null,
  ): Promise<Pick<PreparedAgent, "model" | "circuit"> & { isDiscovered: boolean }> {
    if (providerId === null && model === demoEchoName)
      return { model: demoEcho, circuit: undefined, isDiscovered: false };
    const { connection, transport, isDiscovered } = await this.#connect(
      workspaceId,
      model,
      providerId,
    );
    const { name, kind, baseUrl, apiKey } = connection;
    const modelId = model.slice(model.indexOf("/") + 1);
    const mistake = modelMistake(kind, modelId);
    if (mistake !== undefined)
      throw new ApiError("conflict", `The model ${model} cannot be called: ${mistake}.`);
    return {
      model: providerModel(kind, {
        name,
        baseUrl,
        modelId,
        transport,
        ...(apiKey === undefined ? {} : { apiKey }),
      }),
      circuit: this.#options.circuits.of({
        owner: workspaceId,
        provider: providerId === null ? "operator" : `${providerId} ${providerStamp}`,
        model,
        origin: URL.parse(baseUrl)?.origin ?? baseUrl,
      }),
      isDiscovered,
    };
  }

  /** The pinned provider, or the operator's by the model's name: never one in place of the other. */
  async #connect(
    workspaceId: string,
    model: string,
    providerId: string | null,
  ): Promise<{ connection: ProviderConnection; transport: Transport; isDiscovered: boolean }> {
    if (providerId === null) {
      const { operator, outbound } = this.#options;
      const name = model.slice(0, model.indexOf("/"));
      const connection = await operator?.find(workspaceId, name);
      if (connection !== undefined) {
        const isDiscovered = connection.origin === "discovered";
        return { connection, transport: outbound, isDiscovered };
      }
      const absence = operator?.absence(workspaceId, name);
      throw new ApiError(
        "conflict",
        absence === undefined
          ? `The operator does not offer ${name} to this workspace any more. Give the agent another model.`
          : `${absence} Or give the agent another model.`,
      );
    }
    const connection = await connectionOf(this.#options.database, this.#options.cipher, {
      id: providerId,
      workspaceId,
    });
    if (connection !== undefined)
      return { connection, transport: this.#options.egress, isDiscovered: false };
    throw new ApiError(
      "conflict",
      `The provider of the model ${model} was deleted. Give the agent another model.`,
    );
  }
}

function nameOf({ agentId, agentVersion, providerStamp }: PinnedAgent): string {
  return `${agentId} ${agentVersion} ${providerStamp}`;
}
