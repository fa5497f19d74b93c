import { isJsonObject, tryParseJson } from "../../../base/json/index.ts";
import { repairAnswer } from "./repair-answer.ts";

/**
 * Does what `repairAnswer` does with an event of a stream of Anthropic's Messages API. An error
 * without a type gets the one that the library requires.
 */
export function repairMessageEvent(data: string): string | undefined {
  const event = tryParseJson(data);
  const isUntypedError = isJsonObject(event) && event.type === undefined && event.error != null;
  return isUntypedError ? JSON.stringify(typedError(event.error)) : repairAnswer(data);
}

function typedError(error: unknown) {
  const fields = isJsonObject(error) ? error : { message: error };
  const type = typeof fields.type === "string" ? fields.type : "api_error";
  const message = typeof fields.message === "string" ? fields.message : "";
  return { type: "error", error: { ...fields, type, message } };
}
