import type { ProviderKind } from "@beckon/contract";
import { fieldOf } from "../../base/json-object.ts";
import type { ProviderConnection } from "../connection.ts";

/** The request for an API's list of models, and where its response has their names. */
interface ListFormat {
  readonly query: string;
  headers(apiKey: string | undefined): Record<string, string>;
  read(response: unknown): readonly string[] | undefined;
}

const openai: ListFormat = {
  query: "",
  headers: (apiKey) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  read: (response) => namesIn(fieldOf(response, "data"), "id"),
};

const formats: Readonly<Record<ProviderKind, ListFormat>> = {
  openai,
  "openai-chat": openai,
  "openai-compatible": openai,
  anthropic: {
    query: "?limit=200",
    headers: (apiKey) => ({
      "anthropic-version": "2023-06-01",
      ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
    }),
    read: (response) => namesIn(fieldOf(response, "data"), "id"),
  },
  google: {
    query: "?pageSize=200",
    headers: (apiKey) => (apiKey === undefined ? {} : { "x-goog-api-key": apiKey }),
    read: (response) => {
      const models = fieldOf(response, "models");
      const generating = Array.isArray(models) ? models.filter(generatesText) : models;
      return namesIn(generating, "name")?.map((name) => name.replace(/^models\//, ""));
    },
  },
};

/** Returns the request for the provider's list of models. */
export function modelListRequest({ kind, baseUrl, apiKey }: ProviderConnection): {
  url: string;
  headers: Record<string, string>;
} {
  const { query, headers } = formats[kind];
  return {
    url: `${baseUrl}/models${query}`,
    headers: { accept: "application/json", ...headers(apiKey) },
  };
}

/** Returns the names in the response to it; undefined if that is not a list of models. */
export function modelNames(kind: ProviderKind, response: unknown): readonly string[] | undefined {
  return formats[kind].read(response);
}

/**
 * Returns the names in a list exactly as OpenAI's API reference has it (`object` is `list`, and of
 * each entry `model`); undefined for anything else. Ollama, LM Studio, llama.cpp and vLLM all send
 * these marks, and other JSON APIs with an array `data` do not.
 */
export function strictModelNames(response: unknown): readonly string[] | undefined {
  if (fieldOf(response, "object") !== "list") return undefined;
  // Ollama without a model.
  const data = fieldOf(response, "data") ?? [];
  if (!Array.isArray(data) || !data.every((entry) => fieldOf(entry, "object") === "model"))
    return undefined;
  const names = namesIn(data, "id");
  return names?.length === data.length ? names : undefined;
}

/** Google's list has models for embeddings and images too, with the methods of each. */
function generatesText(model: unknown): boolean {
  const methods = fieldOf(model, "supportedGenerationMethods");
  return !Array.isArray(methods) || methods.includes("generateContent");
}

function namesIn(list: unknown, field: string): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map((entry) => fieldOf(entry, field)).filter((name) => typeof name === "string");
}
