import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json/index.ts";

/**
 * If the arguments of an earlier tool call are not an object, wraps them as
 * `{ not_an_object: … }`. Anthropic, Google, and servers such as Ollama and vLLM, which decode the
 * arguments, would reject the whole request otherwise. The model still sees the arguments that it
 * wrote, followed by Beckon's error message for that call.
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
