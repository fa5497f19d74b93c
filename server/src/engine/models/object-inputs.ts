import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json-object.ts";

/**
 * Anthropic and Google take only an object back as the arguments of an earlier call and refuse the whole request otherwise. A
 * model that wrote broken JSON, or a list, sees its own words in the member `not_an_object`, beside our refusal.
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
