import { LRUCache } from "lru-cache";
import type { Transport } from "../../base/egress/index.ts";
import type { ProviderConnection } from "../connection.ts";
import { type FetchedModels, fetchModelList } from "./fetch-model-list.ts";
import { modelListRequest, modelNames } from "./model-list-format.ts";

/** Milliseconds for which a list is used again. */
const maxAgeMs = 30_000;
/** Lists kept by one process: about 8 MiB if all of them are as large as they can be. */
const maxLists = 200;

/** Requests the models of providers, and remembers the results for a while. */
export class ModelLists {
  readonly #recent = new LRUCache<string, Promise<FetchedModels>>({
    max: maxLists,
    ttl: maxAgeMs,
  });

  /**
   * Requests the models of a provider. Never rejects.
   * @param transport reaches the provider: egress for a workspace's own.
   * @param key remembers the result for `recent`. Default: it is not remembered.
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

  /** Returns the result that was requested with `key` in the last 30 seconds. */
  recent(key: string): Promise<FetchedModels> | undefined {
    return this.#recent.get(key);
  }
}
