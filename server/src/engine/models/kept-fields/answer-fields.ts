import { fieldOf, isJsonObject, type JsonObject } from "../../../base/json/index.ts";

type FlatObject = Record<string, string | number | boolean | null>;

/**
 * One entry of `reasoning_details`, in which OpenRouter sends a model's reasoning: a text with its
 * signature, a summary, or encrypted reasoning
 * (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
 */
export type Detail = FlatObject;

/**
 * `extra_content` of a tool call: an object for each vendor. Vertex AI and gateways send
 * `{"vertex": {"thought_signature": "…"}}`, and Gemini rejects the call without it.
 */
export type ExtraContent = Record<string, FlatObject>;

/** What the library drops from an answer, and the server needs back with the next step. */
export type AnswerFields = {
  /** Undefined if the answer has no `reasoning_details`. It can have an empty list. */
  readonly reasoningDetails: Detail[] | undefined;
  /** The field with the reasoning; undefined if it is `reasoning_content`, or if there is none. */
  readonly reasoningField: "reasoning" | undefined;
  /** By the id of the tool call or, if it has none, by its index. Undefined if there is none. */
  readonly extraContent: Record<string, ExtraContent> | undefined;
};

/**
 * Returns the message of a response (`choices[0].message`) or of an event of a stream
 * (`choices[0].delta`); undefined if there is none.
 */
export function messageIn(body: unknown, name: "message" | "delta"): unknown {
  const choices = fieldOf(body, "choices");
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return fieldOf(choice, name);
}

/** Returns the `reasoning_details` of a message; undefined if it has no such field. */
export function detailsIn(message: unknown): Detail[] | undefined {
  const details = fieldOf(message, "reasoning_details");
  return Array.isArray(details) ? details.filter(isJsonObject).map(flat) : undefined;
}

/** Returns the value of `AnswerFields.reasoningField` for a message. */
export function reasoningFieldIn(message: unknown): AnswerFields["reasoningField"] {
  const reasoning = fieldOf(message, "reasoning");
  return typeof reasoning === "string" && reasoning !== "" ? "reasoning" : undefined;
}

/**
 * Returns the entries of `AnswerFields.extraContent` for a message. Content that has only `google`
 * is left out, because the library keeps it.
 */
export function extraContentIn(message: unknown): [string, ExtraContent][] {
  const calls = fieldOf(message, "tool_calls");
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((call, position) => {
    const content = Object.entries(fieldOf(call, "extra_content") ?? {}).filter(isOfVendor);
    if (content.every(([vendor]) => vendor === "google")) return [];
    const kept = content.map(([vendor, fields]) => [vendor, flat(fields)]);
    return [[callKey(call, position), Object.fromEntries(kept)]];
  });
}

function callKey(call: unknown, position: number): string {
  return String(fieldOf(call, "id") || (fieldOf(call, "index") ?? position));
}

function isOfVendor(entry: [string, unknown]): entry is [string, JsonObject] {
  return isJsonObject(entry[1]);
}

/**
 * Returns the object without fields that are objects or lists. They could be nested too deeply, and
 * no server documents such fields.
 */
function flat(object: JsonObject): FlatObject {
  return Object.fromEntries(Object.entries(object).filter(isFlat));
}

function isFlat(field: [string, unknown]): field is [string, FlatObject[string]] {
  return typeof field[1] !== "object" || field[1] === null;
}
