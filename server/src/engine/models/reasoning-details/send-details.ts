import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { storedDetails } from "./detail.ts";

type PromptOption = Pick<LanguageModelV4CallOptions, "prompt">;

/**
 * Returns the prompt in which each assistant message has the details that its answer had. The
 * library adds the message's metadata of `openaiCompatible` to the message that it sends. Details
 * of another provider are not sent.
 */
export function sendDetails({ prompt }: PromptOption, provider: string): PromptOption {
  return { prompt: prompt.map((message) => withDetails(message, provider)) };
}

function withDetails(message: LanguageModelV4Message, provider: string): LanguageModelV4Message {
  if (message.role !== "assistant") return message;
  const details = message.content
    .map(({ providerOptions }) => storedDetails(provider, providerOptions))
    .find((stored) => stored !== undefined);
  if (details === undefined) return message;
  return { ...message, providerOptions: { openaiCompatible: { reasoning_details: details } } };
}
