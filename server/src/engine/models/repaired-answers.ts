import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import { canBeEvents, GrowingBuffer } from "../../base/egress/index.ts";
import { repairAnswer } from "./repairs/index.ts";

type Fetch = typeof globalThis.fetch;

/** Returns the repaired data of an event; undefined if it needs no repair, "" if it is ignored. */
type RepairEvent = (data: string) => string | undefined;

/**
 * Maximum bytes that are repaired at once: the lines of a stream that end in the same chunk. More
 * bytes are forwarded without repair, so that a line without an end does not fill the memory.
 */
const maxRepairedBytes = 1024 * 1024;

const [lf, cr] = [10, 13];

/**
 * Returns the model that `build` creates, with repaired responses. A response without streaming is
 * repaired only after the library rejected it, and the library then parses it again without another
 * call to the provider. The events of a stream are repaired as they arrive, because the library
 * cannot parse an event twice.
 *
 * @param repairEvent repairs the events of a stream. Default: `repairAnswer`.
 */
export function repairedAnswers(
  fetch: Fetch,
  build: (fetch: Fetch) => LanguageModelV4,
  repairEvent?: RepairEvent,
): LanguageModelV4 {
  const repairing = repairEvents(fetch, repairEvent);
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
 * Returns the repaired response of a failed call. Returns undefined if the call failed for a reason
 * that a repair cannot remove. Also returns undefined if the response continues an earlier response
 * of the same call: the call would have to be repeated from its first response, which is no longer
 * available.
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

/**
 * Returns `fetch` with the events of each response that can be a stream repaired. Other texts pass
 * unchanged: no line of JSON begins like an event.
 */
export function repairEvents(fetch: Fetch, repairEvent: RepairEvent = repairAnswer): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = canBeEvents(response.headers.get("content-type"));
    if (!response.ok || response.body === null || !isStream) return response;
    return new Response(response.body.pipeThrough(repairLines(repairEvent)), response);
  };
}

/** Forwards an event stream line by line. Lines that need no repair are forwarded byte for byte. */
function repairLines(repairEvent: RepairEvent): TransformStream<Uint8Array, Uint8Array> {
  /** The beginning of a line that has not ended. */
  const partialLine = new GrowingBuffer();
  /**
   * Whether the beginning of the current line was forwarded, perhaps up to the middle of a
   * character. The rest of the line must not be decoded or taken for a line.
   */
  let isForwarded = false;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      let start = 0;
      if (isForwarded) {
        start = chunk.findIndex((byte) => byte === lf || byte === cr) + 1;
        isForwarded = start === 0;
        controller.enqueue(isForwarded ? chunk : chunk.subarray(0, start));
        if (isForwarded) return;
      }
      const end = Math.max(chunk.lastIndexOf(lf), chunk.lastIndexOf(cr)) + 1;
      if (end > start) {
        partialLine.add(chunk.subarray(start, end));
        controller.enqueue(repaired(partialLine.take(), repairEvent));
      }
      if (end < chunk.length) partialLine.add(chunk.subarray(end));
      if (partialLine.length > maxRepairedBytes) {
        controller.enqueue(partialLine.take());
        isForwarded = true;
      }
    },
    flush: (controller) => {
      if (partialLine.length > 0) controller.enqueue(partialLine.take());
    },
  });
}

/** Matches types, in the frequent events of all APIs, that need no repair. */
const frequentTypes = [
  "(?:response|reasoning)\\.",
  '(?:message|content_block)_(?:start|delta|stop)"',
  '(?:text|thinking|signature|input_json)_delta"',
  'ping"',
].join("|");

/**
 * Matches every event that a `RepairEvent` can repair, and few others. The other events are not
 * parsed here, because parsing each event twice would add a fifth to the cost of a stream.
 */
const mayNeedRepair = new RegExp(
  [
    '"(?:usage|usageMetadata|tool_calls|item|response|message|content_block|arguments|args|logprobs|annotations|refusal)"\\s*:(?!\\s*null)',
    '"(?:id|model|finish_reason|finishReason|stop_reason|responseId)"\\s*:(?!\\s*(?:"|null))',
    '"finish_reason"\\s*:\\s*""',
    '"created"\\s*:(?!\\s*(?:\\d+[,}]|null))',
    '"role"\\s*:(?!\\s*"assistant")',
    '"choices"\\s*:\\s*(?:null|\\[\\s*\\{(?!\\s*"index"\\s*:\\s*\\d))',
    '"error"\\s*:',
    `"type"\\s*:\\s*"(?!${frequentTypes})`,
    "(?:^|[\\r\\n])data:[ \\t]*(?:[\\r\\n]|$)",
    "message_delta|NaN|Infinity",
  ].join("|"),
);

function repaired(lines: Uint8Array, repairEvent: RepairEvent): Uint8Array {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  if (lines.length > maxRepairedBytes || !mayNeedRepair.test(bytes.toString("latin1")))
    return lines;
  let changed = false;
  const all = bytes
    .toString()
    .replace(/(^|[\r\n]|\uFEFF)data:([^\r\n]*)/g, (line, before: string, data: string) => {
      const instead = data.trim() === "" ? "" : repairEvent(data);
      if (instead === undefined) return line;
      changed = true;
      // The libraries would parse an event without data. It becomes a comment.
      return instead === "" ? `${before}:` : `${before}data:${instead}`;
    });
  return changed ? Buffer.from(all) : lines;
}
