import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { AnswerPart, TokenUsage } from "@beckon/contract";
import type { MeteredCall } from "../metered-call.ts";
import type { ModelFailure } from "../model-failure.ts";
import { outputBoundOf } from "../models/index.ts";
import type { Model } from "../run-request.ts";
import { estimatedUsage, isPlausible, noUsage } from "../usage.ts";
import { bytesOf } from "./attempt-limiter.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import type { Answer } from "./read-answer.ts";

/** The outcome and the usage of one attempt of a model call. */
export type Used = Pick<MeteredCall, "outcome" | "usage">;

/** A model, and the options of its call, which contain the prompt and the tools that were sent. */
interface SentCall {
  readonly model: Pick<Model, "addsThinking">;
  readonly options: LanguageModelV4CallOptions;
}

/**
 * Returns what an answered attempt used: what the provider reports or, if that is missing or
 * implausible, our own estimate.
 */
export function usedForAnswer({ usage, parts }: Answer, call: SentCall): Used {
  return { outcome: "answered", usage: plausible(usage, call, () => writtenBytes(parts)) };
}

/**
 * Returns what an attempt without an answer used. Undefined if the provider cannot have received
 * the request, for example because the connection was refused or the base URL is not allowed.
 *
 * @param failure undefined if the run was stopped during the attempt.
 */
export function usedWithoutAnswer(
  record: AttemptRecord,
  failure: ModelFailure | undefined,
  call: SentCall,
): Used | undefined {
  // The demo model makes no request and never fails. So if there was neither a request nor a
  // failure, the run was stopped while the demo model answered.
  const isDemo = !record.isRequested && failure === undefined;
  if (!record.isSent && !isDemo) return undefined;
  const answerBytes = () => record.answerBytes;
  const reported = record.usage ?? failure?.usage;
  if (failure !== undefined && reported !== undefined)
    return { outcome: "failed", usage: plausible(reported, call, answerBytes) };
  // Providers do not bill a call that they reject with an error. An error that follows a part of
  // the streamed answer is different: that part may be billed.
  if (failure?.rejected && record.outputBytes === 0) return { outcome: "failed", usage: noUsage };
  return { outcome: "lost", usage: boundedEstimate(call, answerBytes, record.silentMs) };
}

/** Returns `reported` if it is plausible, else an estimate. */
function plausible(
  reported: TokenUsage | undefined,
  call: SentCall,
  answerBytes: () => number,
): TokenUsage {
  const isUsable =
    reported !== undefined &&
    isPlausible(reported, {
      maxOutputTokens: call.options.maxOutputTokens,
      estimate: () => estimate(call, answerBytes),
    });
  return isUsable ? reported : boundedEstimate(call, answerBytes);
}

/**
 * Tokens that a model is assumed to write in each second in which nothing arrives of an answer that
 * is then lost. It is an assumption: no report says what was written. If such calls counted as no
 * output, a caller who cancels every run shortly before its answer would stay below all limits of
 * cost.
 */
const silentTokensPerSecond = 100;

/** Time that a request and the reading of its prompt take, during which no output is assumed. */
const promptMs = 2_000;

/**
 * Returns an estimate whose output is at most what was reserved or, without a limit, what the
 * request allowed. An estimate counts four bytes as one token, so a higher one would not prove that
 * the model wrote more: a token can have more bytes, and without streaming all bytes of an
 * unreadable response count as output, although the model did not write them.
 *
 * @param silentMs see `AttemptRecord`; 0 for a call that was answered.
 */
function boundedEstimate(call: SentCall, answerBytes: () => number, silentMs = 0): TokenUsage {
  const usage = estimate(call, answerBytes);
  const unseen = Math.floor((silentTokensPerSecond * Math.max(0, silentMs - promptMs)) / 1_000);
  const output = Math.min(Math.max(usage.output_tokens, unseen), maxOutputOf(call));
  return { ...usage, output_tokens: output };
}

/** Returns the maximum number of tokens that a call can write; Infinity if none is known. */
function maxOutputOf({ model, options }: SentCall): number {
  const canExceed = model.addsThinking === true && options.reasoning !== undefined;
  return outputBoundOf(options) ?? (canExceed ? undefined : options.maxOutputTokens) ?? Infinity;
}

function estimate({ options }: SentCall, answerBytes: () => number): TokenUsage {
  return estimatedUsage({ input: bytesOf(options), output: answerBytes() });
}

/** Returns the number of bytes that the model wrote. */
function writtenBytes(parts: readonly AnswerPart[]): number {
  return parts.reduce(
    (sum, part) =>
      sum + Buffer.byteLength(part.type === "tool_call" ? part.tool + part.arguments : part.text),
    0,
  );
}
