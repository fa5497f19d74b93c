import { isJsonObject, type JsonObject } from "../../../base/json/index.ts";
import { objectsIn, type Repairs } from "./repairs.ts";

/** Repairs a response, or an event of a streamed one, of OpenAI's Chat Completions API. */
export function repairChatCompletion(body: JsonObject, repairs: Repairs): void {
  const { choices } = body;
  // The library for OpenAI-compatible servers takes an event with the field for an error.
  if (body.error === null && choices !== undefined) repairs.set(body, "error", undefined);
  if (choices === undefined || choices === null) {
    const isEmptyChunk = choices === null || isJsonObject(body.usage);
    if (body.object === "chat.completion.chunk" && isEmptyChunk) {
      repairs.set(body, "choices", []);
      repairs.usage(body, "usage");
    }
    return;
  }
  if (!Array.isArray(choices)) return;
  repairs.text(body, "id");
  repairs.text(body, "model");
  repairs.number(body, "created", null);
  repairs.usage(body, "usage");
  for (const [position, choice] of objectsIn(choices).entries()) {
    if (typeof choice.index !== "number") repairs.set(choice, "index", position);
    repairs.text(choice, "finish_reason");
    // Some servers send it in each chunk without a reason, also after the one with the reason.
    if (choice.finish_reason === "") repairs.set(choice, "finish_reason", null);
    repairs.clear(choice, "logprobs");
    if (isJsonObject(choice.message)) repairChatMessage(choice.message, repairs, true);
    if (isJsonObject(choice.delta)) repairChatMessage(choice.delta, repairs, false);
  }
}

/** @param isWhole true for a complete message, false for one delta of a streamed message. */
function repairChatMessage(message: JsonObject, repairs: Repairs, isWhole: boolean): void {
  if (message.role !== undefined && message.role !== "assistant")
    repairs.set(message, "role", "assistant");
  if (typeof message.refusal !== "string") repairs.clear(message, "refusal");
  repairs.clear(message, "annotations");
  for (const call of objectsIn(message.tool_calls)) {
    repairs.text(call, "id");
    repairs.number(call, "index", null);
    if (isWhole || (call.type !== undefined && call.type !== null))
      repairs.set(call, "type", "function");
    if (isJsonObject(call.function)) repairs.arguments(call.function, isWhole ? "" : undefined);
  }
}
