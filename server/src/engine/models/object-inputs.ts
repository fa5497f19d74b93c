import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json-object.ts";

/**
 * Replaces arguments of earlier tool calls that are not objects by `{ not_an_object: … }`, because
 * Anthropic and Google would reject the whole request. The model sees the text that it wrote next
 * to Beckon's error message.
 */
export function objectInputs({
  prompt,
}: LanguageModelV4CallOptions): Pick<LanguageModelV4CallOptions, "prompt"> {
  return { prompt: prompt.map(withObjects) };
}

function withObjects(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== "assistant") return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === "tool-call" && !isJsonObject(part.input)
        ? { ...part, input: { not_an_object: part.input } }
        : part,
    ),
  };
}
