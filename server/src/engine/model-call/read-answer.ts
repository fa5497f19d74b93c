import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { AnswerPart, FinishReason, TokenUsage } from "@beckon/contract";
import { ModelFailure } from "../model-failure.ts";
import { storableJson, storableJsonText, storableText } from "../storable.ts";
import { reportedUsage } from "../usage.ts";

/** A model's whole answer, fit for the journal save that its call ids may repeat. */
export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly finish: FinishReason;
  /** undefined when the provider reported none that can be true. */
  readonly usage: TokenUsage | undefined;
}

/** What a model call brought, by whichever way. */
export interface RawAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly streamed: boolean;
}

/**
 * Text, reasoning and calls of our own tools are kept; sources, files and tools that the provider ran itself are not.
 *
 * @throws {ModelFailure} the answer is not whole.
 */
export function readAnswer(raw: RawAnswer): Answer {
  const parts = raw.content.flatMap(readPart);
  const finish = readFinish(
    raw,
    parts.some((part) => part.type === "tool_call"),
  );
  return { parts, finish, usage: reportedUsage(raw.usage, parts.length > 0) };
}

function readPart(part: LanguageModelV4Content): AnswerPart[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [
        { type: part.type, text: storableText(part.text), ...keptMetadata(part.providerMetadata) },
      ];
    case "tool-call": {
      if (part.providerExecuted) return [];
      const call = {
        call_id: storableText(part.toolCallId),
        tool: storableText(part.toolName),
        arguments: storableJsonText(part.input),
      };
      return [{ type: "tool_call", ...call, ...keptMetadata(part.providerMetadata) }];
    }
    default:
      return [];
  }
}

function keptMetadata(metadata: unknown): { provider_metadata?: unknown } {
  return metadata === undefined ? {} : { provider_metadata: storableJson(metadata) };
}

/** Words for "I have said it all" that servers use beside `stop`. */
const otherWordsForStop = new Set(["eos", "eos_token", "end_turn", "stop_sequence", "STOP"]);

/** Words for "now call the tools", which are believed where there are calls. */
const otherWordsForCalls = new Set(["FUNCTION_CALL", "function_call", "tool_use"]);

/** Words for "something went wrong on the way" that adapters do not know: an answer may come when it is asked for again. */
const wordsForBroken = new Set(["error", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"]);

/**
 * - A refusal of the model's own (its words, under `stop` or no reason at all) is a whole answer, not a filtered one.
 * - Tool calls under `stop` are tool calls: several servers write so.
 * - A plain body without any reason is whole if it says anything, because JSON that ends is; a stream without one is cut.
 *
 * @throws {ModelFailure} the provider says, or the shape shows, that the answer broke off.
 */
function readFinish(
  { content, finishReason, streamed }: RawAnswer,
  hasCalls: boolean,
): FinishReason {
  const { unified, raw } = finishReason;
  const whole = hasCalls ? "tool_calls" : "stop";
  switch (unified) {
    case "stop":
      return whole;
    case "length":
      return "length";
    case "content-filter":
      return raw === "stop" || raw === undefined ? whole : "content_filter";
    case "tool-calls":
      if (hasCalls) return "tool_calls";
      throw new ModelFailure("The model announced a tool call and sent none.", { retryable: true });
    case "error":
    case "interrupted":
      throw new ModelFailure("The model's answer broke off.", { retryable: true });
    case "other":
      if (wordsForBroken.has(raw ?? ""))
        throw new ModelFailure("The model's answer broke off with an error.", { retryable: true });
      if (raw === undefined && streamed)
        throw new ModelFailure("The model's stream ended without its end mark.", {
          retryable: true,
        });
      if (raw === undefined && content.length === 0)
        throw new ModelFailure("The model's answer is empty.", { retryable: true });
      return raw === undefined ||
        otherWordsForStop.has(raw) ||
        (hasCalls && otherWordsForCalls.has(raw))
        ? whole
        : "other";
  }
}
