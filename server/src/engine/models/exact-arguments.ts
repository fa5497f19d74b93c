import type { LanguageModelV4 } from "@ai-sdk/provider";
import { repairAnswer } from "./repairs/index.ts";

type Fetch = typeof globalThis.fetch;

/**
 * Returns the model that `build` creates, with exact integers in the arguments of its tool calls.
 * It is for APIs that send arguments as an object and not as text: the library would round integers
 * outside of ±2^53. `repairAnswer` converts such arguments to text before the library parses the
 * response. Without streaming, the library returns this text as a JSON string, which is parsed
 * here. `repairedAnswers` converts the events of a stream.
 */
export function exactArguments(
  fetch: Fetch,
  build: (fetch: Fetch) => LanguageModelV4,
): LanguageModelV4 {
  const model = build(convertResponses(fetch));
  let streaming: LanguageModelV4 | undefined;
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      const result = await model.doGenerate(options);
      const content = result.content.map((part) =>
        part.type === "tool-call" && part.input.startsWith('"')
          ? { ...part, input: String(JSON.parse(part.input)) }
          : part,
      );
      return { ...result, content };
    },
    doStream: (options) => {
      streaming ??= build(fetch);
      return streaming.doStream(options);
    },
  };
}

function convertResponses(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    return new Response(response.body.pipeThrough(convertWhole()), response);
  };
}

/**
 * Collects a response and forwards it when it has ended. A response without a large integer is
 * neither parsed nor changed.
 */
function convertWhole(): TransformStream<Uint8Array, Uint8Array> {
  const chunks: Uint8Array[] = [];
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk) => void chunks.push(chunk),
    flush: (controller) => {
      const bytes = Buffer.concat(chunks.splice(0));
      const text = bytes.toString();
      // Integers outside of ±2^53 have at least 16 digits.
      const converted = /\d{16}/.test(text) ? repairAnswer(text) : undefined;
      controller.enqueue(converted === undefined ? bytes : Buffer.from(converted));
    },
  });
}
