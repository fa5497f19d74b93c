import type { ProviderKind } from "@beckon/contract";
import { fieldOf } from "../../base/json/index.ts";
import type { ProviderConnection } from "../connection.ts";

/**
 * How to request the list of models of an API, and how to read the models' names from the response.
 */
interface ListFormat {
  readonly query: string;
  headers(apiKey: string | undefined): Record<string, string>;
  read(response: unknown): readonly string[] | undefined;
}

const openai: ListFormat = {
  query: "",
  headers: (apiKey) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  read: (response) => {
    // Together AI sends the array without an object around it.
    const models = Array.isArray(response) ? response : fieldOf(response, "data");
    const names = namesIn(models, "id");
    return isOfGoogle(models) ? names?.map(withoutPrefix) : names;
  },
};

const formats: Readonly<Record<ProviderKind, ListFormat>> = {
  openai,
  "openai-chat": openai,
  "openai-compatible": openai,
  anthropic: {
    query: "?limit=1000",
    headers: (apiKey) => ({
      "anthropic-version": "2023-06-01",
      ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
    }),
    read: (response) => namesIn(fieldOf(response, "data"), "id"),
  },
  google: {
    query: "?pageSize=1000",
    headers: (apiKey) => (apiKey === undefined ? {} : { "x-goog-api-key": apiKey }),
    read: (response) => {
      const models = fieldOf(response, "models");
      const generating = Array.isArray(models) ? models.filter(generatesText) : models;
      return namesIn(generating, "name")?.map(withoutPrefix);
    },
  },
};

export interface ListRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  /**
   * URL of a request with the same headers that fails with 401 if the key is wrong. Undefined if
   * the request for the list fails then.
   */
  readonly keyUrl?: string;
}

/** Returns the request for the provider's list of models. */
export function modelListRequest({ kind, baseUrl, apiKey }: ProviderConnection): ListRequest {
  const { query, headers } = formats[kind];
  // OpenRouter sends its list whatever the key:
  // https://openrouter.ai/docs/api/api-reference/api-keys/get-current-key
  const isPublic = formats[kind] === openai && new URL(baseUrl).origin === "https://openrouter.ai";
  return {
    url: `${baseUrl}/models${query}`,
    headers: { accept: "application/json", ...headers(apiKey) },
    ...(isPublic && { keyUrl: `${baseUrl}/key` }),
  };
}

/**
 * Returns the names in the response to `modelListRequest`; undefined if the response is not a list
 * of models.
 */
export function modelNames(kind: ProviderKind, response: unknown): readonly string[] | undefined {
  return formats[kind].read(response);
}

/**
 * Returns the names in a list that has exactly the form in OpenAI's API reference: `object` is
 * `list`, and each entry has an `object` that is `model`. Returns undefined for any other response.
 * Ollama, LM Studio, llama.cpp and vLLM all send both values of `object`; other JSON APIs with an
 * array `data` do not.
 */
export function strictModelNames(response: unknown): readonly string[] | undefined {
  if (fieldOf(response, "object") !== "list") return undefined;
  // Ollama sends no array if it has no models.
  const data = fieldOf(response, "data") ?? [];
  if (!Array.isArray(data) || !data.every((entry) => fieldOf(entry, "object") === "model"))
    return undefined;
  const names = namesIn(data, "id");
  return names?.length === data.length ? names : undefined;
}

/**
 * Returns whether a model of Google generates text. Google's list also contains models for
 * embeddings and images; it names the methods that each model supports.
 */
function generatesText(model: unknown): boolean {
  const methods = fieldOf(model, "supportedGenerationMethods");
  return !Array.isArray(methods) || methods.includes("generateContent");
}

/**
 * Returns whether a list in OpenAI's format is that of Google's endpoint. Only Google's names are
 * shortened: those of a local server can be paths of files in a folder `models`.
 */
function isOfGoogle(models: unknown): boolean {
  return Array.isArray(models) && models.every((model) => fieldOf(model, "owned_by") === "google");
}

/** Google lists its models with this prefix, and accepts their names without it. */
function withoutPrefix(name: string): string {
  return name.replace(/^models\//, "");
}

function namesIn(list: unknown, field: string): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map((entry) => fieldOf(entry, field)).filter((name) => typeof name === "string");
}
