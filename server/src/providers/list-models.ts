import type { ProviderKind } from "@beckon/contract";
import { fieldOf } from "../base/json-object.ts";
import type { ProviderConnection } from "./connection.ts";

/** How each API is asked for its models, and where in the answer they stand. */
interface Catalogue {
  readonly query: string;
  headers(apiKey: string | undefined): Record<string, string>;
  read(answer: unknown): readonly string[] | undefined;
}

const openai: Catalogue = {
  query: "",
  headers: (apiKey) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  read: (answer) => namesIn(fieldOf(answer, "data"), "id"),
};

const catalogues: Readonly<Record<ProviderKind, Catalogue>> = {
  openai,
  "openai-chat": openai,
  "openai-compatible": openai,
  anthropic: {
    query: "?limit=200",
    headers: (apiKey) => ({
      "anthropic-version": "2023-06-01",
      ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
    }),
    read: (answer) => namesIn(fieldOf(answer, "data"), "id"),
  },
  google: {
    query: "?pageSize=200",
    headers: (apiKey) => (apiKey === undefined ? {} : { "x-goog-api-key": apiKey }),
    read: (answer) => {
      const models = fieldOf(answer, "models");
      const speaking = Array.isArray(models) ? models.filter(speaks) : models;
      return namesIn(speaking, "name")?.map((name) => name.replace(/^models\//, ""));
    },
  },
};

/** A request for the provider's list of models. */
export function modelListRequest({ kind, baseUrl, apiKey }: ProviderConnection): {
  url: string;
  headers: Record<string, string>;
} {
  const { query, headers } = catalogues[kind];
  return {
    url: `${baseUrl}/models${query}`,
    headers: { accept: "application/json", ...headers(apiKey) },
  };
}

/** The names in an answer to it; undefined when it is no such list. */
export function modelNames(kind: ProviderKind, answer: unknown): readonly string[] | undefined {
  return catalogues[kind].read(answer);
}

/** Google lists models for embeddings and images too, and says what each can be asked. */
function speaks(model: unknown): boolean {
  const methods = fieldOf(model, "supportedGenerationMethods");
  return !Array.isArray(methods) || methods.includes("generateContent");
}

function namesIn(list: unknown, member: string): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  return list.map((entry) => fieldOf(entry, member)).filter((name) => typeof name === "string");
}
