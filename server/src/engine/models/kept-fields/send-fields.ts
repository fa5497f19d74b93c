import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";

type PromptOption = Pick<LanguageModelV4CallOptions, "prompt">;
type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;

/**
 * Returns the prompt in which each assistant message has the fields that its answer had. The
 * library adds the metadata of `openaiCompatible` to the messages and tool calls that it sends.
 * Fields of another provider are not sent.
 *
 * A message whose answer had its reasoning in `reasoning` gets this field. The library adds the
 * same text as `reasoning_content`, and `inDialect` leaves one of them out.
 */
export function sendKeptFields({ prompt }: PromptOption, provider: string): PromptOption {
  return {
    prompt: prompt.map((message) =>
      message.role === "assistant" ? withFields(message, provider) : message,
    ),
  };
}

function withFields(message: AssistantMessage, provider: string): AssistantMessage {
  const { content } = message;
  const firstCall = content.find(({ type }) => type === "tool-call");
  const { reasoningDetails, reasoningField } = firstCall?.providerOptions?.[provider] ?? {};
  const openaiCompatible = {
    ...(reasoningDetails !== undefined && { reasoning_details: reasoningDetails }),
    ...(reasoningField === "reasoning" && { reasoning: reasoningIn(message) }),
  };
  return {
    ...message,
    content: content.map((part) => withExtraContent(part, provider)),
    providerOptions: { openaiCompatible },
  };
}

function reasoningIn({ content }: AssistantMessage): string {
  return content.map((part) => (part.type === "reasoning" ? part.text : "")).join("");
}

function withExtraContent<Part extends AssistantMessage["content"][number]>(
  part: Part,
  provider: string,
): Part {
  const extraContent = part.providerOptions?.[provider]?.extraContent;
  if (extraContent === undefined) return part;
  // Replaces the other options, because the library would send a `thoughtSignature` in place of it.
  return { ...part, providerOptions: { openaiCompatible: { extra_content: extraContent } } };
}
