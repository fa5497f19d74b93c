import { LRUCache } from "lru-cache";
import type { Transport } from "../../base/egress/index.ts";
import type { ProviderConnection } from "../connection.ts";
import { type FetchedModels, fetchModelList } from "./fetch-model-list.ts";
import { modelListRequest, modelNames } from "./model-list-format.ts";

/** Age up to which a cached list of models is used. */
const maxAgeMs = 30_000;
/**
 * Maximum number of lists that one process keeps. They take about 8 MiB if each has the maximum
 * size.
 */
const maxLists = 200;

/** Requests the models of providers, and keeps the results for 30 seconds. */
export class ModelLists {
  readonly #recent = new LRUCache<string, Promise<FetchedModels>>({
    max: maxLists,
    ttl: maxAgeMs,
  });

  /**
   * Requests the models of a provider. Never rejects.
   * @param transport sends the request. For a workspace's own provider it must be the egress, which
   *   enforces the rules for addresses.
   * @param key the cache key under which `recent` finds the result, not a credential. Default: the
   *   result is not kept.
   */
  fetch(
    { kind, ...connection }: ProviderConnection,
    transport: Pick<Transport, "fetch">,
    timeoutMs: number,
    key?: string,
  ): Promise<FetchedModels> {
    const list = fetchModelList(
      transport.fetch,
      modelListRequest({ kind, ...connection }),
      (response) => modelNames(kind, response),
      timeoutMs,
    );
    if (key !== undefined) this.#recent.set(key, list);
    return list;
  }

  /** Keeps a result that was fetched without a key. It replaces an older one. */
  keep(key: string, list: FetchedModels): void {
    this.#recent.set(key, Promise.resolve(list));
  }

  /**
   * Returns the result that was kept under `key` in the last 30 seconds; otherwise undefined.
   */
  recent(key: string): Promise<FetchedModels> | undefined {
    return this.#recent.get(key);
  }
}
