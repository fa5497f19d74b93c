import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import type {
  JSONArray,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolCall,
} from "@ai-sdk/provider";
import { detailsIn, metadataOf, storedDetails } from "./detail.ts";
import { StreamedDetails } from "./streamed-details.ts";

/**
 * Makes the library add the `reasoning_details` of an answer to the metadata of the answer.
 * `withKeptDetails` and `withKeptStreamedDetails` move them to the first tool call, because the
 * journal has metadata of parts only. Without a tool call the details are not needed, because the
 * answer is not sent back. They are not added to text, because blank text with metadata is sent
 * back, and Anthropic's models reject it.
 */
export function detailsExtractor(provider: string): MetadataExtractor {
  return {
    extractMetadata: async ({ parsedBody }) =>
      metadataOf(provider, detailsIn(parsedBody, "message")),
    createStreamExtractor: () => {
      const streamed = new StreamedDetails();
      return {
        processChunk: (event) => streamed.add(detailsIn(event, "delta")),
        buildMetadata: () => metadataOf(provider, streamed.details),
      };
    },
  };
}

/** Returns the result with the details of the answer in the metadata of its first tool call. */
export function withKeptDetails(
  provider: string,
  result: LanguageModelV4GenerateResult,
): LanguageModelV4GenerateResult {
  const details = storedDetails(provider, result.providerMetadata);
  const first = result.content.find((part) => part.type === "tool-call");
  if (details === undefined || first === undefined) return result;
  const call = withDetails(first, provider, details);
  return { ...result, content: result.content.map((part) => (part === first ? call : part)) };
}

/**
 * Returns the stream with the details of the answer in the metadata of its first tool call. The
 * tool calls are sent with the last part, which has the details. The library sends them right
 * before that part anyway.
 */
export function withKeptStreamedDetails(
  provider: string,
  result: LanguageModelV4StreamResult,
): LanguageModelV4StreamResult {
  const calls: LanguageModelV4ToolCall[] = [];
  const moveDetails = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform: (part, controller) => {
      if (part.type === "tool-call") {
        calls.push(part);
        return;
      }
      if (part.type === "finish") {
        const details = storedDetails(provider, part.providerMetadata);
        for (const [position, call] of calls.entries())
          controller.enqueue(
            position === 0 && details !== undefined ? withDetails(call, provider, details) : call,
          );
      }
      controller.enqueue(part);
    },
  });
  return { ...result, stream: result.stream.pipeThrough(moveDetails) };
}

function withDetails(
  call: LanguageModelV4ToolCall,
  provider: string,
  details: JSONArray,
): LanguageModelV4ToolCall {
  const { providerMetadata } = call;
  const metadata = metadataOf(provider, details);
  const own = { ...providerMetadata?.[provider], ...metadata?.[provider] };
  return { ...call, providerMetadata: { ...providerMetadata, [provider]: own } };
}
