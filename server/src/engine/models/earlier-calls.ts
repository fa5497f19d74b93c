import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isJsonObject } from "../../base/json/index.ts";

type PromptOption = Pick<LanguageModelV4CallOptions, "prompt">;

/**
 * If the arguments of an earlier tool call are not an object, wraps them as
 * `{ not_an_object: … }`. Anthropic, Google, and servers such as Ollama and vLLM, which decode the
 * arguments, would reject the whole request otherwise. The model still sees the arguments that it
 * wrote, followed by Beckon's error message for that call.
 */
export function objectInputs({ prompt }: PromptOption): PromptOption {
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

/**
 * Appends `_` to the names of earlier tool calls that every object inherits, such as `constructor`.
 * The libraries for Anthropic and OpenAI's Responses API search for the names in an ordinary
 * object, find a function, and send the call without a name, which the APIs reject.
 */
export function withoutInheritedNames({ prompt }: PromptOption): PromptOption {
  return { prompt: prompt.map(withOwnNames) };
}

function withOwnNames(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === "assistant")
    return { ...message, content: message.content.map(withOwnName) };
  if (message.role === "tool") return { ...message, content: message.content.map(withOwnName) };
  return message;
}

function withOwnName<Part extends object>(part: Part): Part {
  return "toolName" in part && String(part.toolName) in {}
    ? { ...part, toolName: `${part.toolName}_` }
    : part;
}
