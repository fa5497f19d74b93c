import { LRUCache } from "lru-cache";
import type { Transport } from "../../base/egress/index.ts";
import type { Model } from "../run-request.ts";
import { keyScrubber } from "./scrub-key.ts";

/** A model and the API that serves it. */
export interface ModelAddress {
  /**
   * The part of `provider/model` before the slash. It is used only as the provider's name in
   * metadata.
   */
  readonly name: string;
  /** Root of the API, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /**
   * The provider's API key; undefined if the provider needs none, as is common for local servers.
   */
  readonly apiKey?: string;
  /** The model's name at the provider. */
  readonly modelId: string;
  readonly transport: Transport;
}

/** Maximum number of cached models for each transport and API format. */
const maxCachedModels = 1_000;

/**
 * Returns `build` with an LRU cache.
 *
 * Building a model takes about 0.24 ms of CPU time, because the libraries compile their schemas
 * each time. Everything else in a call takes a quarter of that. A model can be reused because all
 * that it keeps between calls is which fields its server rejects (`chat-dialect.ts`). The API key
 * is part of the cache key, so once the API key has changed, a model with the old one is no longer
 * used. The returned models also have `scrub`, which removes the API key from text.
 */
export function cacheModels(
  build: (address: ModelAddress) => Model,
): (address: ModelAddress) => Model {
  const caches = new WeakMap<Transport, LRUCache<string, Model>>();
  return (address) => {
    const models =
      caches.get(address.transport) ?? new LRUCache<string, Model>({ max: maxCachedModels });
    caches.set(address.transport, models);

    const id = JSON.stringify([address.name, address.baseUrl, address.apiKey, address.modelId]);
    const model =
      models.get(id) ?? Object.assign(build(address), { scrub: keyScrubber(address.apiKey) });
    models.set(id, model);
    return model;
  };
}
