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

/**
 * Cached versions. Entries cannot become stale: versions are immutable, and the cache key contains
 * the provider's stamp, which changes with the provider.
 */
const maxPrepared = 2_000;

/** Dependencies of the models and tools of agents. */
export interface AgentCacheOptions {
  readonly database: Database;
  readonly cipher: SecretCipher;
  /** The circuit breakers of this process, one for each model. */
  readonly circuits: Circuits;
  /** Tools of the operator, which every agent has in addition to its own. */
  readonly extraTools: readonly Tool[];
  /** Transport for URLs that the operator configured: its own providers. */
  readonly outbound: Transport;
  /** Transport for URLs that a workspace configured: its providers, and the hosts of its tools. */
  readonly egress: Transport;
  readonly operator: OperatorProviders | undefined;
}

interface PinnedAgent {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
}

/** LRU cache of agent versions, each with its model and tools. */
export class AgentCache {
  readonly #options: AgentCacheOptions;
  readonly #prepared = new LRUCache<string, PreparedAgent>({ max: maxPrepared });

  constructor(options: AgentCacheOptions) {
    this.#options = options;
  }

  /** Returns the version that a run has pinned, if it is cached. */
  find(pinned: PinnedAgent): PreparedAgent | undefined {
    return this.#prepared.get(nameOf(pinned));
  }

  /**
   * Reads the version that a run has pinned, creates its model and tools, and caches it.
   * @throws ApiError `conflict` if its provider was deleted or is no longer offered, or its model
   *   cannot be called; and if the provider's API key cannot be decrypted.
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

  /** Tools use the network only through egress, and read only secrets of their own agent. */
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
   * Creates the model and its circuit. The stamp is part of the circuit's key, so that a provider
   * with a changed URL or API key is tried at once.
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

  /**
   * Returns the connection to the provider `providerId` or, if it is null, to the operator's
   * provider that `model` names. If that provider is not available, no other one is used.
   */
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
          ? `The operator no longer offers ${name} to this workspace. Give the agent another model.`
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
