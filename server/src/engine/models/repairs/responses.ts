import { isJsonObject, type JsonObject } from "../../../base/json/index.ts";
import { objectsIn, type Repairs } from "./repairs.ts";

/** Repairs a response, or an event of a streamed one, of OpenAI's Responses API. */
export function repairResponse(body: JsonObject, repairs: Repairs): void {
  if (body.object === "response" && Array.isArray(body.output)) repairWhole(body, repairs);
  if (isJsonObject(body.response)) repairWhole(body.response, repairs);
  if (isJsonObject(body.item)) repairItem(body.item, repairs);
  if (body.type === "response.function_call_arguments.done") repairs.arguments(body, "");
}

function repairWhole(response: JsonObject, repairs: Repairs): void {
  repairs.text(response, "id", "");
  repairs.text(response, "model", "");
  repairs.number(response, "created_at", 0);
  if (response.created_at === undefined || response.created_at === null)
    repairs.set(response, "created_at", 0);
  if (response.usage !== undefined && response.usage !== null)
    repairs.usage(response, "usage", ["input_tokens", "output_tokens"]);
  for (const item of objectsIn(response.output)) repairItem(item, repairs);
}

function repairItem(item: JsonObject, repairs: Repairs): void {
  if (item.type !== "message" && item.type !== "function_call" && item.type !== "reasoning") return;
  repairs.text(item, "id", "");
  if (item.type === "function_call") {
    repairs.text(item, "call_id", "");
    repairs.arguments(item, "");
  }
  if (item.type === "message") repairs.set(item, "role", "assistant");
  for (const part of objectsIn(item.content)) {
    repairs.clear(part, "logprobs");
    if (
      part.type === "output_text" &&
      (!Array.isArray(part.annotations) || part.annotations.length > 0)
    )
      repairs.set(part, "annotations", []);
  }
}
