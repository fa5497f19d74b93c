import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import type {
  JSONObject,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { fieldOf } from "../../../base/json/index.ts";
import {
  type AnswerFields,
  detailsIn,
  extraContentIn,
  messageIn,
  reasoningFieldIn,
} from "./answer-fields.ts";
import { StreamedFields } from "./streamed-fields.ts";

/**
 * Makes the library add `AnswerFields` to the metadata of an answer. `withKeptFields` and
 * `withKeptStreamedFields` move them to the tool calls, those of the message to the first one,
 * because the journal has metadata of parts only. Without a tool call they are not needed, because
 * the answer is not sent back. They are not added to text, because blank text with metadata is sent
 * back, and Anthropic's models reject it.
 */
export function fieldsExtractor(provider: string): MetadataExtractor {
  return {
    extractMetadata: async ({ parsedBody }) => ({
      [provider]: fieldsOf(messageIn(parsedBody, "message")),
    }),
    createStreamExtractor: () => {
      const streamed = new StreamedFields();
      return {
        processChunk: (event) => streamed.add(messageIn(event, "delta")),
        buildMetadata: () => ({ [provider]: streamed.fields }),
      };
    },
  };
}

function fieldsOf(message: unknown): AnswerFields {
  const extraContent = extraContentIn(message);
  return {
    reasoningDetails: detailsIn(message),
    reasoningField: reasoningFieldIn(message),
    extraContent: extraContent.length > 0 ? Object.fromEntries(extraContent) : undefined,
  };
}

/** Returns the result with the fields of the answer in the metadata of its tool calls. */
export function withKeptFields(
  provider: string,
  result: LanguageModelV4GenerateResult,
): LanguageModelV4GenerateResult {
  let position = 0;
  const content = result.content.map((part) =>
    part.type === "tool-call"
      ? withFields(part, position++, provider, result.providerMetadata)
      : part,
  );
  return { ...result, content };
}

/**
 * Returns the stream with the fields of the answer in the metadata of its tool calls. The tool
 * calls are sent with the last part, which has the fields. The library sends them right before that
 * part anyway.
 */
export function withKeptStreamedFields(
  provider: string,
  result: LanguageModelV4StreamResult,
): LanguageModelV4StreamResult {
  const calls: LanguageModelV4ToolCall[] = [];
  const moveFields = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform: (part, controller) => {
      if (part.type === "tool-call") {
        calls.push(part);
        return;
      }
      if (part.type === "finish")
        for (const [position, call] of calls.entries())
          controller.enqueue(withFields(call, position, provider, part.providerMetadata));
      controller.enqueue(part);
    },
  });
  return { ...result, stream: result.stream.pipeThrough(moveFields) };
}

/** @param metadata the metadata of the answer. */
function withFields(
  call: LanguageModelV4ToolCall,
  position: number,
  provider: string,
  metadata: SharedV4ProviderMetadata | undefined,
): LanguageModelV4ToolCall {
  const { reasoningDetails, reasoningField, extraContent } = metadata?.[provider] ?? {};
  const ofCall = fieldOf(extraContent, call.toolCallId) ?? fieldOf(extraContent, `${position}`);
  const fields = {
    ...(position === 0 && reasoningDetails !== undefined && { reasoningDetails }),
    ...(position === 0 && reasoningField !== undefined && { reasoningField }),
    ...(ofCall !== undefined && { extraContent: ofCall as JSONObject }),
  };
  if (Object.keys(fields).length === 0) return call;
  const { providerMetadata } = call;
  const own = { ...providerMetadata?.[provider], ...fields };
  return { ...call, providerMetadata: { ...providerMetadata, [provider]: own } };
}
