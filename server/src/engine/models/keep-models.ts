import type { LanguageModelV4 } from "@ai-sdk/provider";
import { LRUCache } from "lru-cache";
import type { Transport } from "../../base/egress/index.ts";
import type { Model } from "../run-request.ts";
import { keyScrubber } from "./scrub-key.ts";

/** A model, and how it is reached. */
export interface ModelAddress {
  /** First part of `provider/model`. Only names the provider in metadata. */
  readonly name: string;
  /** Root of the API, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Servers on one's own machine often need none. */
  readonly apiKey?: string;
  /** The model's name at the provider. */
  readonly modelId: string;
  readonly transport: Transport;
}

/** Models kept for one transport and one wire format. */
const maxKept = 1_000;

/**
 * Makes `build` build each model once. Building one costs about 0.24 ms of CPU (the libraries compile their schemas anew), four
 * times the rest of a call; a kept one holds no state of any call. A changed key is another entry, so no call is made with
 * an old one. The result knows which text is its secret.
 */
export function keepModels(
  build: (address: ModelAddress) => LanguageModelV4,
): (address: ModelAddress) => Model {
  const kept = new WeakMap<Transport, LRUCache<string, Model>>();
  return (address) => {
    const models = kept.get(address.transport) ?? new LRUCache<string, Model>({ max: maxKept });
    kept.set(address.transport, models);

    const id = JSON.stringify([address.name, address.baseUrl, address.apiKey, address.modelId]);
    const model =
      models.get(id) ?? Object.assign(build(address), { scrub: keyScrubber(address.apiKey) });
    models.set(id, model);
    return model;
  };
}
