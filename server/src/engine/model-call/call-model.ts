import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { defaultMaxAnswerBytes, type TokenUsage } from "@beckon/contract";
import { elapsed, sleep } from "../../base/clock.ts";
import { ModelFailure } from "../model-failure.ts";
import type { RunRequest } from "../run-request.ts";
import { defaultRetryPolicy } from "../timeouts.ts";
import { estimatedUsage } from "../usage.ts";
import type { Answer } from "./read-answer.ts";
import { readFailure } from "./read-failure.ts";
import { retryWait } from "./retry-wait.ts";
import { shouldStream } from "./should-stream.ts";
import { tryModel } from "./try-model.ts";

export interface AnsweredCall extends Answer {
  readonly usage: TokenUsage;
  readonly durationMs: number;
  /** Tries that failed before the one that answered. */
  readonly retries: number;
}

/** A call was in flight when the run was stopped: it was paid for, and nobody will tell us how much. */
export class CallCut extends Error {
  override readonly name = "CallCut";
  /** The reason of the run's signal. */
  readonly stopped: unknown;
  readonly usage: TokenUsage;

  constructor(stopped: unknown, usage: TokenUsage) {
    super("a model call was cut");
    this.stopped = stopped;
    this.usage = usage;
  }
}

/**
 * One model step: as many tries as the policy allows, inside the step's time and the run's. The provider library's own
 * repeats are not used: they know neither our deadlines nor what a watcher has already seen.
 *
 * While the model is known to be down the call waits for it, inside the same time: see
 * `circuit.ts`. A try that only finds that it still is does not count: it serves all that wait.
 *
 * @throws {ModelFailure} of the last try.
 * @throws {CallCut} the run was stopped during a try.
 * @throws the signal's reason when the run was stopped between two tries.
 */
export async function callModel(
  request: RunRequest,
  step: number,
  prompt: LanguageModelV4Prompt,
): Promise<AnsweredCall> {
  const { model, settings, signal, timeouts, retry = defaultRetryPolicy } = request;
  const options = callOptions(request, prompt);
  const streamed = shouldStream(settings, request.watched);
  const begun = elapsed();
  const endsAt = begun + timeouts.stepMs;
  let counted = 0;

  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    request.onDelta?.({ type: "step_start", step, attempt });
    let heard = 0;
    const pass = await request.circuit?.enter(signal, endsAt, request.deadlineAt);
    const onText = (type: "text" | "reasoning", text: string) => {
      heard += text.length;
      pass?.answered();
      request.onDelta?.({ type: `${type}_delta`, step, text });
    };
    try {
      const { maxAnswerBytes = defaultMaxAnswerBytes, hold } = request;
      const firstByteMs = timeouts.firstByteMs;
      const answer = await tryModel({
        model,
        options,
        streamed,
        signal,
        endsAt,
        firstByteMs,
        onText,
        maxAnswerBytes,
        hold,
      });
      pass?.answered();
      request.onDelta?.({ type: "step_end", step, complete: streamed });
      const usage =
        answer.usage ?? estimatedUsage({ input: sizeOf(options), output: lengthOf(answer) });
      return { ...answer, usage, durationMs: Math.round(elapsed() - begun), retries: attempt - 1 };
    } catch (thrown) {
      request.onDelta?.({ type: "step_end", step, complete: false });
      if (signal.aborted) pass?.dropped();
      if (signal.aborted)
        throw new CallCut(signal.reason, estimatedUsage({ input: sizeOf(options), output: heard }));
      const failure = readFailure(thrown, model.scrub ?? unchanged);
      if (failure.down) pass?.failed(failure);
      else pass?.answered();
      const isStillDown = failure.down && pass?.probe === true;
      if (!isStillDown) counted += 1;
      if (!failure.retryable || counted >= retry.tries || (isStillDown && pass.last)) throw failure;
      await sleep(
        waitWithin(
          failure,
          retryWait(retry, counted, failure.retryAfterMs),
          Math.min(endsAt, request.deadlineAt ?? Infinity),
        ),
        signal,
      );
    }
  }
}

const unchanged = (text: string) => text;

/** @throws {ModelFailure} the wait would pass the end: better to fail now and say so than to wait for nothing. */
function waitWithin(failure: ModelFailure, waitMs: number, endsAt: number): number {
  if (elapsed() + waitMs < endsAt) return waitMs;
  if (failure.retryAfterMs === undefined) throw failure;
  const asked = Math.ceil(failure.retryAfterMs / 1000);
  throw new ModelFailure(
    `${failure.message} It asks to wait ${asked} s, longer than the run may go on.`,
    { retryable: false },
  );
}

function callOptions(
  { settings, tools }: RunRequest,
  prompt: LanguageModelV4Prompt,
): LanguageModelV4CallOptions {
  const { temperature, max_output_tokens, reasoning_effort } = settings;
  return {
    prompt,
    ...(temperature !== undefined && { temperature }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(reasoning_effort !== undefined && { reasoning: reasoning_effort }),
    ...(tools.length > 0 && {
      tools: tools.map(
        ({ name, description, parameters }): LanguageModelV4FunctionTool => ({
          type: "function",
          name,
          description,
          inputSchema: parameters,
        }),
      ),
    }),
  };
}

/** Characters that the model wrote. */
function lengthOf({ parts }: Answer): number {
  return parts.reduce(
    (sum, part) =>
      sum +
      (part.type === "tool_call" ? part.tool.length + part.arguments.length : part.text.length),
    0,
  );
}

/** Characters that the model was sent, about. */
function sizeOf({ prompt, tools }: LanguageModelV4CallOptions): number {
  return JSON.stringify(prompt).length + (tools === undefined ? 0 : JSON.stringify(tools).length);
}
