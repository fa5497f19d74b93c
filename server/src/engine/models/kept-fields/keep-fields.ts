import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import type {
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { type AnswerFields, detailsIn, messageIn, reasoningFieldIn } from "./answer-fields.ts";
import { StreamedFields } from "./streamed-fields.ts";

/**
 * Makes the library add `AnswerFields` to the metadata of an answer. `withKeptFields` and
 * `withKeptStreamedFields` move them to the first tool call, because the journal has metadata of
 * parts only. Without a tool call they are not needed, because the answer is not sent back. They
 * are not added to text, because blank text with metadata is sent back, and Anthropic's models
 * reject it.
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
  return { reasoningDetails: detailsIn(message), reasoningField: reasoningFieldIn(message) };
}

/** Returns the result with the fields of the answer in the metadata of its first tool call. */
export function withKeptFields(
  provider: string,
  result: LanguageModelV4GenerateResult,
): LanguageModelV4GenerateResult {
  const first = result.content.find((part) => part.type === "tool-call");
  if (first === undefined) return result;
  const call = withFields(first, provider, result.providerMetadata);
  return { ...result, content: result.content.map((part) => (part === first ? call : part)) };
}

/**
 * Returns the stream with the fields of the answer in the metadata of its first tool call. The
 * tool calls are sent with the last part, which has the fields. The library sends them right before
 * that part anyway.
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
          controller.enqueue(
            position === 0 ? withFields(call, provider, part.providerMetadata) : call,
          );
      controller.enqueue(part);
    },
  });
  return { ...result, stream: result.stream.pipeThrough(moveFields) };
}

/** @param metadata the metadata of the answer. */
function withFields(
  call: LanguageModelV4ToolCall,
  provider: string,
  metadata: SharedV4ProviderMetadata | undefined,
): LanguageModelV4ToolCall {
  const { reasoningDetails, reasoningField } = metadata?.[provider] ?? {};
  const fields = {
    ...(reasoningDetails !== undefined && { reasoningDetails }),
    ...(reasoningField !== undefined && { reasoningField }),
  };
  if (Object.keys(fields).length === 0) return call;
  const { providerMetadata } = call;
  const own = { ...providerMetadata?.[provider], ...fields };
  return { ...call, providerMetadata: { ...providerMetadata, [provider]: own } };
}
