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
import { attemptCall } from "./attempt-call.ts";
import type { Answer } from "./read-answer.ts";
import { readFailure } from "./read-failure.ts";
import { retryWait } from "./retry-wait.ts";
import { shouldStream } from "./should-stream.ts";

export interface AnsweredCall extends Answer {
  readonly usage: TokenUsage;
  readonly durationMs: number;
  /** Number of failed attempts before the attempt that was answered. */
  readonly retries: number;
}

/**
 * Thrown when a run is stopped during a model call. The provider bills the call but has not
 * reported its usage, so `usage` is an estimate.
 */
export class CallAborted extends Error {
  override readonly name = "CallAborted";
  /** The reason of the run's signal. */
  readonly stopped: unknown;
  readonly usage: TokenUsage;

  constructor(stopped: unknown, usage: TokenUsage) {
    super("a model call was aborted");
    this.stopped = stopped;
    this.usage = usage;
  }
}

/**
 * Makes the model call of one step, with retries, within the time limits of the step and the run.
 * The retries of the provider's library are not used, because they ignore Beckon's deadlines and
 * because subscribers must get a `step_start` before each attempt.
 *
 * While the circuit of the model is open, the call waits for a pass within the same time limits
 * (see `circuit.ts`). A failed probe of an open circuit does not count as an attempt.
 *
 * @throws {ModelFailure} of the last attempt.
 * @throws {CallAborted} the run was stopped during an attempt.
 * @throws the signal's reason if the run was stopped between two attempts.
 */
export async function callModel(
  request: RunRequest,
  step: number,
  prompt: LanguageModelV4Prompt,
): Promise<AnsweredCall> {
  const { model, settings, signal, timeouts, retry = defaultRetryPolicy } = request;
  const options = callOptions(request, prompt);
  const streamed = shouldStream(settings, request.hasSubscriber);
  const startedAt = elapsed();
  const endsAt = startedAt + timeouts.stepMs;
  let countedAttempts = 0;

  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    request.onDelta?.({ type: "step_start", step, attempt });
    let receivedCharacters = 0;
    const pass = await request.circuit?.enter(signal, endsAt, request.deadlineAt);
    const onText = (type: "text" | "reasoning", text: string) => {
      receivedCharacters += text.length;
      pass?.answered();
      request.onDelta?.({ type: `${type}_delta`, step, text });
    };
    try {
      const { maxAnswerBytes = defaultMaxAnswerBytes, hold } = request;
      const firstByteMs = timeouts.firstByteMs;
      const answer = await attemptCall({
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
      return {
        ...answer,
        usage,
        durationMs: Math.round(elapsed() - startedAt),
        retries: attempt - 1,
      };
    } catch (thrown) {
      request.onDelta?.({ type: "step_end", step, complete: false });
      if (signal.aborted) pass?.dropped();
      if (signal.aborted)
        throw new CallAborted(
          signal.reason,
          estimatedUsage({ input: sizeOf(options), output: receivedCharacters }),
        );
      const failure = readFailure(thrown, model.scrub ?? unchanged);
      if (failure.unreachable) pass?.failed(failure);
      else pass?.answered();
      const isStillDown = failure.unreachable && pass?.probe === true;
      if (!isStillDown) countedAttempts += 1;
      if (!failure.retryable || countedAttempts >= retry.maxAttempts || (isStillDown && pass.last))
        throw failure;
      await sleep(
        waitWithin(
          failure,
          retryWait(retry, countedAttempts, failure.retryAfterMs),
          Math.min(endsAt, request.deadlineAt ?? Infinity),
        ),
        signal,
      );
    }
  }
}

const unchanged = (text: string) => text;

/**
 * Returns `waitMs`.
 *
 * @throws {ModelFailure} if the wait would last until `endsAt` or longer. Such a wait is useless,
 *   so the call fails at once.
 */
function waitWithin(failure: ModelFailure, waitMs: number, endsAt: number): number {
  if (elapsed() + waitMs < endsAt) return waitMs;
  if (failure.retryAfterMs === undefined) throw failure;
  const asked = Math.ceil(failure.retryAfterMs / 1000);
  throw new ModelFailure(
    `${failure.message} It asks to wait ${asked} s, which is longer than the time left.`,
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

/** Returns the number of characters that the model wrote. */
function lengthOf({ parts }: Answer): number {
  return parts.reduce(
    (sum, part) =>
      sum +
      (part.type === "tool_call" ? part.tool.length + part.arguments.length : part.text.length),
    0,
  );
}

/** Returns the approximate number of characters that the model was sent. */
function sizeOf({ prompt, tools }: LanguageModelV4CallOptions): number {
  return JSON.stringify(prompt).length + (tools === undefined ? 0 : JSON.stringify(tools).length);
}
