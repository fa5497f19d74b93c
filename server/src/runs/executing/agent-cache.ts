import { LRUCache } from "lru-cache";
import { openSecret } from "../../agents/index.ts";
import type { OperatorProviders } from "../../base/context.ts";
import { type Database, retryWhileLost } from "../../base/database/index.ts";
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
import type { Pricer } from "../pricer.ts";
import type { RunRef } from "../run.ts";
import { readDraft, type StoredDraft } from "./draft-store.ts";
import type { PreparedAgent } from "./prepared-agent.ts";
import { readVersion } from "./version-store.ts";

/**
 * Maximum number of cached agent versions. An entry cannot become stale: versions are immutable,
 * and the cache key contains the provider's stamp, which changes whenever the provider or one of
 * its prices is changed. The prices of the operator and of the library do not change while a
 * process runs.
 */
const maxPrepared = 2_000;
/** Maximum size of the cache, as `bytesOf` estimates it: configurations can be large. */
const maxPreparedBytes = 64 * 1024 * 1024;

/**
 * Estimated bytes of memory for each byte of a configuration: its text and the objects of its
 * tools.
 */
const heldPerConfigByte = 4;

/** What `AgentCache` needs to create the models and tools of agents. */
export interface AgentCacheOptions {
  readonly database: Database;
  readonly cipher: SecretCipher;
  /** The circuit breakers of this process, one for each model. */
  readonly circuits: Circuits;
  /**
   * Tools that the operator of this server configured. Every agent can call them in addition to its
   * own tools. If one of its own tools has the same name, the agent's tool is used.
   */
  readonly extraTools: readonly Tool[];
  /** Transport to any address, for the providers of the operator, who chose their addresses. */
  readonly unrestricted: Transport;
  /**
   * Transport within the egress rules, for requests to the providers that a workspace configured,
   * and to the hosts that the tools of its agents call.
   */
  readonly egress: Transport;
  readonly operator: OperatorProviders | undefined;
  readonly pricer: Pricer;
}

interface PinnedAgent extends RunRef {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly providerStamp: string | null;
  /**
   * Whether the run is a draft run: one that has its own configuration instead of that of an
   * agent's version. Default false.
   */
  readonly isDraft?: boolean;
}

/** LRU cache of agent versions, each with its model, its tools and the price of its model. */
export class AgentCache {
  readonly #options: AgentCacheOptions;
  readonly #prepared = new LRUCache<string, PreparedAgent>({
    max: maxPrepared,
    maxSize: maxPreparedBytes,
    sizeCalculation: bytesOf,
  });

  constructor(options: AgentCacheOptions) {
    this.#options = options;
  }

  /**
   * Returns the agent version of a run from the cache; undefined if it is not cached. The
   * configuration of a draft run is never cached.
   */
  find(pinned: PinnedAgent): PreparedAgent | undefined {
    return pinned.isDraft ? undefined : this.#prepared.get(nameOf(pinned));
  }

  /**
   * Reads the agent version of a run, or the configuration of a draft run, and creates its model
   * and tools. Caches all three, except for a draft run and for a version whose provider was
   * discovered on this machine.
   * @throws ApiError `conflict` if the model's provider was deleted or is no longer offered, or if
   *   the model cannot be called. Also throws if the provider's API key cannot be decrypted.
   */
  async prepare(pinned: PinnedAgent): Promise<PreparedAgent> {
    const row = await this.#read(pinned);
    const granted = grantedTools(row.config.tools, this.#toolServices(pinned));
    const isFree = ({ name }: { name: string }) => granted.every((tool) => tool.name !== name);
    const { isDiscovered, ...model } = await this.#modelOf(
      { workspaceId: pinned.workspaceId, providerStamp: row.providerStamp },
      row.config.model,
      row.providerId,
    );
    const priced = {
      workspaceId: pinned.workspaceId,
      model: row.config.model,
      providerId: row.providerId,
    };
    const prepared: PreparedAgent = {
      config: row.config,
      ...model,
      priceOf: await this.#options.pricer(priced),
      tools: [...granted, ...this.#options.extraTools.filter(isFree)],
      configBytes: heldPerConfigByte * row.bytes,
    };
    if (!isDiscovered && !pinned.isDraft) this.#prepared.set(nameOf(pinned), prepared);
    return prepared;
  }

  /**
   * Returns the configuration of a run. `bytes` is 0 for an agent's version, because only the
   * configurations of draft runs count towards the memory of their runs.
   */
  async #read(pinned: PinnedAgent): Promise<StoredDraft> {
    const { database } = this.#options;
    if (pinned.isDraft) {
      const draft = await readDraft(database, pinned);
      if (draft === undefined) throw new Error(`run ${pinned.runId} has no stored configuration`);
      return draft;
    }
    const version = await readVersion(database, pinned);
    if (version === undefined)
      throw new Error(`agent ${pinned.agentId} has no version ${pinned.agentVersion}`);
    return { ...version, providerStamp: pinned.providerStamp, bytes: 0 };
  }

  /**
   * Returns the services for the agent's tools. Tools reach the network only through `egress`,
   * and can read only the secrets of their own agent.
   */
  #toolServices({ workspaceId, agentId }: PinnedAgent): ToolServices {
    return {
      fetch: this.#options.egress.fetchEncoded,
      openSecret: (id, origin, signal) =>
        retryWhileLost(
          () =>
            openSecret(this.#options.database, this.#options.cipher, {
              workspaceId,
              agentId,
              id,
              origin,
            }),
          signal,
        ),
    };
  }

  /**
   * Creates the model, and returns it with its circuit breaker. The stamp of a workspace's own
   * provider is part of what identifies the circuit breaker. So when the provider's URL or API key
   * is changed, a new circuit breaker is used, and the provider is tried at once.
   * @returns `isDiscovered`: whether the provider is a model server that was discovered on this
   *   machine. It may no longer be there at the next run.
   */
  async #modelOf(
    { workspaceId, providerStamp }: Pick<PinnedAgent, "workspaceId" | "providerStamp">,
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
   * Returns the connection to the provider `providerId`. If `providerId` is null, returns the
   * connection to the operator's provider whose name `model` begins with.
   * @throws ApiError `conflict` if that provider is not available. No other provider is used
   *   instead.
   */
  async #connect(
    workspaceId: string,
    model: string,
    providerId: string | null,
  ): Promise<{ connection: ProviderConnection; transport: Transport; isDiscovered: boolean }> {
    if (providerId === null) {
      const { operator, unrestricted } = this.#options;
      const name = model.slice(0, model.indexOf("/"));
      const connection = await operator?.find(workspaceId, name);
      if (connection !== undefined) {
        const isDiscovered = connection.origin === "discovered";
        return { connection, transport: unrestricted, isDiscovered };
      }
      const absence = operator?.absence(workspaceId, name);
      throw new ApiError(
        "conflict",
        absence === undefined
          ? `The operator no longer offers ${name} to this workspace. ${remedy}`
          : `${absence} Or give the agent another model.`,
      );
    }
    const connection = await connectionOf(this.#options.database, this.#options.cipher, {
      id: providerId,
      workspaceId,
    });
    if (connection !== undefined)
      return { connection, transport: this.#options.egress, isDiscovered: false };
    throw new ApiError("conflict", `The provider of the model ${model} was deleted. ${remedy}`);
  }
}

const remedy =
  "Save the agent again if there is a provider of this name, or give it another model.";

/**
 * Estimates the memory of an agent version in the cache, in bytes: 2,000 for its model, and the
 * rest for its configuration and its tools.
 */
function bytesOf({ config }: PreparedAgent): number {
  return 2_000 + heldPerConfigByte * JSON.stringify(config).length;
}

function nameOf({ agentId, agentVersion, providerStamp }: PinnedAgent): string {
  return `${agentId} ${agentVersion} ${providerStamp}`;
}
