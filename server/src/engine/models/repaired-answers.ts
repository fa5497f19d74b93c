import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import { repairAnswer } from "./repair-answer.ts";

type Fetch = typeof globalThis.fetch;

/** Lines of a stream above this are passed on as they are. */
const maxRepairedBytes = 1024 * 1024;

const [lf, cr] = [10, 13];

/**
 * The model that `build` makes for a `fetch`, with the bookkeeping of its answers repaired. A whole
 * answer is repaired only when the library has rejected it, and read again without another call;
 * the events of a stream as they come, since the library cannot go back to one.
 */
export function repairedAnswers(
  fetch: Fetch,
  build: (fetch: Fetch) => LanguageModelV4,
): LanguageModelV4 {
  const repairing = repairEvents(fetch);
  const model = build(repairing);
  return {
    specificationVersion: model.specificationVersion,
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      try {
        return await model.doGenerate(options);
      } catch (thrown) {
        const repaired = repairedResponse(thrown);
        if (repaired === undefined) throw thrown;
        const responses = [repaired];
        const readAgain: Fetch = async (input, init) => responses.pop() ?? fetch(input, init);
        return build(readAgain).doGenerate(options);
      }
    },
    doStream: (options) => model.doStream(options),
  };
}

/**
 * undefined if the call failed for something else, or if its answer continues another one that is
 * lost by now.
 */
function repairedResponse(thrown: unknown): Response | undefined {
  if (
    !APICallError.isInstance(thrown) ||
    thrown.statusCode !== 200 ||
    typeof thrown.responseBody !== "string"
  )
    return undefined;
  if (Object(thrown.requestBodyValues).continuationToken !== undefined) return undefined;
  const body = repairAnswer(thrown.responseBody);
  return body === undefined
    ? undefined
    : new Response(body, { headers: thrown.responseHeaders ?? {} });
}

/** The same `fetch`, with the bookkeeping in the events of each stream repaired. */
export function repairEvents(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (!response.ok || response.body === null || !isStream) return response;
    return new Response(response.body.pipeThrough(repairLines()), response);
  };
}

/** Passes on whole lines of an event stream; those without a fault byte for byte. */
function repairLines(): TransformStream<Uint8Array, Uint8Array> {
  /** The beginning of a line that has not ended. */
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      const end = Math.max(chunk.lastIndexOf(lf), chunk.lastIndexOf(cr)) + 1;
      if (end > 0) {
        const lines = chunk.subarray(0, end);
        controller.enqueue(repaired(begun.length === 0 ? lines : Buffer.concat([...begun, lines])));
        begun = [];
        begunBytes = 0;
      }
      if (end < chunk.length) begun.push(chunk.subarray(end));
      begunBytes += chunk.length - end;
      if (begunBytes > maxRepairedBytes)
        for (const piece of begun.splice(0)) controller.enqueue(piece);
    },
    flush: (controller) => {
      for (const piece of begun) controller.enqueue(piece);
    },
  });
}

/**
 * What every event with a fault that `repairAnswer` repairs has in it, and hardly one that brings a
 * piece of text: reading each event twice would add a fifth to the cost of a stream.
 */
const suspect = new RegExp(
  [
    '"(?:usage|usageMetadata|tool_calls|item|response|message|content_block|arguments|logprobs|annotations|refusal)"\\s*:(?!\\s*null)',
    '"(?:id|model|finish_reason|finishReason|stop_reason|responseId)"\\s*:(?!\\s*(?:"|null))',
    '"created"\\s*:(?!\\s*(?:\\d+[,}]|null))',
    '"role"\\s*:(?!\\s*"assistant")',
    '"choices"\\s*:\\s*\\[\\s*\\{(?!\\s*"index"\\s*:\\s*\\d)',
    "message_delta|NaN|Infinity",
  ].join("|"),
);

function repaired(lines: Uint8Array): Uint8Array {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  if (lines.length > maxRepairedBytes || !suspect.test(bytes.toString("latin1"))) return lines;
  let changed = false;
  const all = bytes
    .toString()
    .replace(/(^|[\r\n]|\uFEFF)data:([^\r\n]*)/g, (line, before: string, data: string) => {
      const instead = repairAnswer(data);
      if (instead === undefined) return line;
      changed = true;
      return `${before}data:${instead}`;
    });
  return changed ? Buffer.from(all) : lines;
}
