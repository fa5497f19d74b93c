import { isJsonObject, tryParseJson } from "../../../base/json/index.ts";
import { repairAnswer } from "./repair-answer.ts";

/** The types of events that the library accepts. */
const knownTypes: ReadonlySet<unknown> = new Set([
  "message_start",
  "message_delta",
  "message_stop",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "ping",
  "error",
]);

/**
 * Does what `repairAnswer` does with an event of a stream of Anthropic's Messages API. An error
 * without the type `error`, which the library requires, gets it.
 *
 * @returns an empty text for an event of an unknown type. Clients must ignore it, because Anthropic
 *   can add types (https://docs.anthropic.com/en/api/versioning).
 */
export function repairMessageEvent(data: string): string | undefined {
  const event = tryParseJson(data);
  if (!isJsonObject(event) || knownTypes.has(event.type)) return repairAnswer(data);
  if (event.error != null) return JSON.stringify(typedError(event.error));
  return typeof event.type === "string" ? "" : repairAnswer(data);
}

function typedError(error: unknown) {
  const fields = isJsonObject(error) ? error : { message: error };
  const type = typeof fields.type === "string" ? fields.type : "api_error";
  const message = typeof fields.message === "string" ? fields.message : "";
  return { type: "error", error: { ...fields, type, message } };
}
