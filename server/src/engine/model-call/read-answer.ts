import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { AnswerPart, FinishReason, TokenUsage } from "@beckon/contract";
import { ModelFailure } from "../model-failure.ts";
import { storableJson, storableJsonText, storableText } from "../storable.ts";
import { reportedUsage } from "../usage.ts";
import { providerText } from "./provider-text.ts";

/**
 * A model's complete answer. `assignCallIds` makes its call ids unique in the run before it is
 * written to the journal.
 */
export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly finish: FinishReason;
  /** The provider's finish reason in a form that can be shown; undefined if Beckon knows it. */
  readonly unknownReason: string | undefined;
  /** Undefined if the provider reported no usage or an implausible one. */
  readonly usage: TokenUsage | undefined;
}

/** The content of a model call, streamed or not, as the library returns it. */
export interface RawAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly streamed: boolean;
}

/**
 * Converts a raw answer. Keeps text, reasoning and calls of Beckon's tools. Drops sources, files,
 * and calls of tools that the provider executed.
 *
 * @param options `canBeEmpty` says whether an answer without text and tool calls is accepted: after
 *   tool results, the model may have nothing more to say. `scrub` removes the API key from text.
 * @throws {ModelFailure} the answer is incomplete or empty.
 */
export function readAnswer(
  raw: RawAnswer,
  { canBeEmpty, scrub }: { canBeEmpty: boolean; scrub: (text: string) => string },
): Answer {
  const parts = raw.content.flatMap(readPart);
  const finish = readFinish(
    raw,
    parts.some((part) => part.type === "tool_call"),
  );
  // Reasoning is not content: servers of gpt-oss can end an answer after it, and another sample of
  // the same request usually has text.
  const isEmpty = parts.every(
    (part) => part.type === "reasoning" || (part.type === "text" && part.text.trim() === ""),
  );
  if (finish === "stop" && isEmpty && !canBeEmpty)
    throw new ModelFailure("The model's answer is empty.", { retryable: true });
  const unknownReason =
    finish === "other" ? providerText(raw.finishReason.raw ?? "", scrub) : undefined;
  return { parts, finish, unknownReason, usage: reportedUsage(raw.usage, parts.length > 0) };
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

/** Values that some servers send instead of `stop`. */
const stopSynonyms = new Set(["eos", "eos_token", "end_turn", "stop_sequence", "STOP"]);

/**
 * Values that some servers send instead of `tool_calls`. They are accepted only if the answer
 * contains tool calls.
 */
const toolCallSynonyms = new Set(["FUNCTION_CALL", "function_call", "tool_use"]);

/**
 * Finish reasons that report a failure and that the libraries do not recognise. The call can be
 * retried. DeepSeek sends `insufficient_system_resource`, Z.ai `network_error`.
 */
const failureReasons = new Set([
  "error",
  "insufficient_system_resource",
  "network_error",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
]);

/**
 * Returns the finish reason.
 *
 * - If the model refuses in its own words, a library can report `content-filter` although the
 *   provider sent `stop` or no reason. Such an answer is complete and does not count as filtered.
 * - Tool calls with the reason `stop` count as `tool_calls`, because several servers send that.
 * - An answer without streaming and without a reason is complete if it has content, because its
 *   JSON is complete. A streamed answer without a reason may be truncated, so it is a failure.
 * - Mistral sends `model_length` for a truncated answer, Z.ai `sensitive` for a filtered one.
 * - If the context is full, a library can report `length`. A higher `max_output_tokens` would not
 *   help, so the call fails.
 *
 * @throws {ModelFailure} the answer is incomplete, as its finish reason or its content shows.
 */
function readFinish(
  { content, finishReason, streamed }: RawAnswer,
  hasCalls: boolean,
): FinishReason {
  const { unified } = finishReason;
  // An empty text means the same as none.
  const raw = finishReason.raw || undefined;
  const complete = hasCalls ? "tool_calls" : "stop";
  if (raw === "model_context_window_exceeded")
    throw new ModelFailure(
      "The model's context is full, so its answer is incomplete. Send less input, let tools return less, or use a model with a larger context.",
      { retryable: false },
    );
  switch (unified) {
    case "stop":
      return complete;
    case "length":
      return "length";
    case "content-filter":
      return raw === "stop" || raw === undefined ? complete : "content_filter";
    case "tool-calls":
      if (hasCalls) return "tool_calls";
      throw new ModelFailure("The model announced a tool call and sent none.", { retryable: true });
    case "error":
    case "interrupted":
      throw new ModelFailure("The model's answer is incomplete.", { retryable: true });
    case "other":
      if (raw === "model_length") return "length";
      if (raw === "sensitive") return "content_filter";
      if (failureReasons.has(raw ?? ""))
        throw new ModelFailure("The model's answer ended with an error.", { retryable: true });
      if (raw === undefined && streamed)
        throw new ModelFailure("The model's stream ended without a finish event.", {
          retryable: true,
        });
      if (raw === undefined && content.length === 0)
        throw new ModelFailure("The model's answer is empty.", { retryable: true });
      return raw === undefined || stopSynonyms.has(raw) || (hasCalls && toolCallSynonyms.has(raw))
        ? complete
        : "other";
  }
}
