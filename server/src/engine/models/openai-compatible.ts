import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Model } from "../run-request.ts";

export interface OpenAICompatibleSettings {
  /** First part of `provider/model`. Only names the provider in metadata. */
  readonly name: string;
  /** Root of the API, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`; servers on one's own machine often need none. */
  readonly apiKey?: string;
  /** The model's name at the provider. */
  readonly modelId: string;
  readonly fetch: typeof globalThis.fetch;
}

/** Models kept for one `fetch`; the one longest unused goes first. */
const mostKept = 1_000;

/**
 * Built models by their settings. Building one costs about 0.24 ms of CPU (the library compiles its schemas anew), four
 * times the rest of a call; a kept one holds no state of any call. A changed key is another entry, so no call is made with
 * an old one.
 */
const kept = new WeakMap<typeof globalThis.fetch, Map<string, Model>>();

/** A model of any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio, and many that are hosted. */
export function openAICompatibleModel(settings: OpenAICompatibleSettings): Model {
  const models = kept.get(settings.fetch) ?? new Map<string, Model>();
  kept.set(settings.fetch, models);

  const id = JSON.stringify([settings.name, settings.baseUrl, settings.apiKey, settings.modelId]);
  const model = models.get(id) ?? build(settings);
  models.delete(id);
  models.set(id, model);
  for (const oldest of models.keys()) {
    if (models.size <= mostKept) break;
    models.delete(oldest);
  }
  return model;
}

function build({ name, baseUrl, apiKey, modelId, fetch }: OpenAICompatibleSettings): Model {
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl,
    fetch,
    // Asks for usage at the end of a stream; servers that do not know the option ignore it.
    includeUsage: true,
    ...(apiKey !== undefined && { apiKey }),
  });
  return Object.assign(provider.languageModel(modelId), { scrub: scrubber(apiKey) });
}

/** Removes the key as it is and as it stands in a URL or in JSON. */
function scrubber(apiKey: string | undefined): (text: string) => string {
  if (apiKey === undefined || apiKey === "") return (text) => text;
  const forms = new Set([apiKey, encodeURIComponent(apiKey), JSON.stringify(apiKey).slice(1, -1)]);
  return (text) => [...forms].reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}
