import { isJsonObject, type JsonObject } from "../../../base/json/index.ts";
import { hasRawNumber, objectsIn, type Repairs } from "./repairs.ts";

/** Repairs a response, or an event of a streamed one, of Anthropic's Messages API. */
export function repairMessage(body: JsonObject, repairs: Repairs): void {
  if (body.type === "message" && Array.isArray(body.content))
    repairWhole(body, repairs, ["input_tokens", "output_tokens"]);
  if (body.type === "message_start" && isJsonObject(body.message))
    repairWhole(body.message, repairs, ["input_tokens"]);
  if (body.type === "message_delta" && isJsonObject(body.delta)) {
    repairs.text(body.delta, "stop_reason");
    repairs.usage(body, "usage", ["output_tokens"]);
  }
  const block = body.content_block;
  if (isJsonObject(block) && block.type === "tool_use") {
    repairs.text(block, "id", "");
    if (block.input !== undefined && !isJsonObject(block.input)) repairs.set(block, "input", {});
    if (hasRawNumber(block.input)) {
      // The library accepts arguments as text only in a delta.
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
      repairs.set(block, "input", {});
      repairs.addEvent({ type: "content_block_delta", index: body.index, delta });
    }
  }
}

function repairWhole(message: JsonObject, repairs: Repairs, counts: readonly string[]): void {
  repairs.text(message, "id");
  repairs.text(message, "model");
  repairs.text(message, "stop_reason");
  repairs.text(message, "stop_sequence");
  repairs.usage(message, "usage", counts);
  for (const block of objectsIn(message.content)) {
    // Ollama and others do not sign thinking.
    if (block.type === "thinking") repairs.text(block, "signature", "");
    if (block.type !== "tool_use") continue;
    repairs.text(block, "id", "");
    if (block.input === undefined) repairs.set(block, "input", {});
    repairs.exactArguments(block, "input");
  }
}
