import type { JSONArray, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { fieldOf, isJsonObject, type JsonObject } from "../../../base/json/index.ts";

/**
 * One entry of `reasoning_details`, in which OpenRouter sends a model's reasoning: a text with its
 * signature, a summary, or encrypted reasoning
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
 */
export type Detail = Record<string, string | number | boolean | null>;

/**
 * Returns the details in a response (`choices[0].message`) or in an event of a stream
 * (`choices[0].delta`); undefined if it has no such field. Fields of a detail that are objects or
 * lists are left out, because they can be nested too deeply. OpenRouter documents no such field.
 */
export function detailsIn(body: unknown, name: "message" | "delta"): Detail[] | undefined {
  const choices = fieldOf(body, "choices");
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const details = fieldOf(fieldOf(choice, name), "reasoning_details");
  return Array.isArray(details) ? details.filter(isJsonObject).map(flat) : undefined;
}

function flat(detail: JsonObject): Detail {
  return Object.fromEntries(Object.entries(detail).filter(isFlat));
}

function isFlat(field: [string, unknown]): field is [string, Detail[string]] {
  return typeof field[1] !== "object" || field[1] === null;
}

/** Returns provider metadata with the details; undefined if there are none. */
export function metadataOf(
  provider: string,
  details: JSONArray | undefined,
): SharedV4ProviderMetadata | undefined {
  return details && { [provider]: { reasoningDetails: details } };
}

/** Returns the details in provider metadata; undefined if there are none of this provider. */
export function storedDetails(
  provider: string,
  metadata: SharedV4ProviderMetadata | undefined,
): JSONArray | undefined {
  const details = metadata?.[provider]?.reasoningDetails;
  return Array.isArray(details) ? details : undefined;
}
