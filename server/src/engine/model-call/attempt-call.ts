import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { linkAbort, raceSignal } from "../../base/abort.ts";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { acceptEvents, meterCalls } from "../../base/egress/index.ts";
import { ModelFailure } from "../model-failure.ts";
import { reportedUsage } from "../usage.ts";
import type { AttemptRecord } from "./attempt-record.ts";
import { CallMeter } from "./call-meter.ts";
import { collectStream, type OnText } from "./collect-stream.ts";
import { throwInBandError } from "./in-band-error.ts";
import { type Answer, readAnswer } from "./read-answer.ts";

export interface ModelAttempt {
  readonly model: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
  readonly streamed: boolean;
  /** Aborts the attempt. `attemptCall` then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** The time at which the step times out, in milliseconds on the clock of `base/clock.ts`. */
  readonly endsAt: number;
  /** Maximum time between two chunks of a stream after its first content, in milliseconds. */
  readonly idleMs: number;
  readonly onText: OnText;
  /** Called for each part of a stream that the provider sent. */
  readonly onData: () => void;
  /** Maximum size of the answer in bytes. */
  readonly maxAnswerBytes: number;
  /**
   * Reserves memory for the attempt, and then for its answer until the run ends. If it is
   * undefined, memory is not counted.
   */
  readonly memory: ByteHold | undefined;
  /** Removes the model's API key from text. */
  readonly scrub: (text: string) => string;
  /** Updated during the attempt, so that its data is known even if the attempt fails. */
  readonly record: AttemptRecord;
}

/**
 * Calls the model once. The promise settles when the signal aborts or the time is over, even if the
 * provider's library ignores its signal. If the call fails for any reason, an unfinished request is
 * aborted.
 *
 * @throws the signal's reason, {ModelFailure} (timeout, incomplete, empty or too large answer, or
 *   no memory left), or the error of the provider or its library.
 */
export async function attemptCall(request: ModelAttempt): Promise<Answer> {
  const { model, options, streamed, signal, endsAt, idleMs, onText, onData, maxAnswerBytes } =
    request;
  const { controller: stop, release } = linkAbort(signal);
  const call = stop.signal;
  let idleTimer: NodeJS.Timeout | undefined;
  const meter = new CallMeter({
    memory: request.memory,
    maxBytes: maxAnswerBytes,
    streamed,
    record: request.record,
    stop: (failure) => stop.abort(failure),
    onReceived: () => idleTimer?.refresh(),
  });
  meterCalls(call, meter);
  const stepTimer = setTimeout(
    () => stop.abort(timeout("finish its answer")),
    Math.max(0, endsAt - elapsed()),
  );
  const callOptions = {
    ...options,
    abortSignal: call,
    ...(streamed && { headers: { accept: acceptEvents } }),
  };
  const reading = { canBeEmpty: options.prompt.at(-1)?.role === "tool", scrub: request.scrub };
  try {
    let answer: Answer;
    if (streamed) {
      const { stream } = await raceSignal(model.doStream(callOptions), call);
      const result = await collectStream(stream, call, {
        onText,
        onData,
        onOutput: (bytes) => {
          request.record.addOutput(bytes);
          if (bytes === 0) return;
          idleTimer ??= setTimeout(() => stop.abort(timeout("continue its answer", true)), idleMs);
        },
        onRead: (bytes) => {
          meter.read(bytes);
          idleTimer?.refresh();
        },
      });
      request.record.usage = reportedUsage(result.usage, false);
      request.record.responseModel = result.responseModel;
      answer = readAnswer(result, reading);
    } else {
      const result = await raceSignal(model.doGenerate(callOptions), call);
      request.record.usage = reportedUsage(result.usage, false);
      request.record.responseModel = result.response?.modelId;
      throwInBandError(result.response?.body);
      answer = readAnswer({ ...result, streamed }, reading);
    }
    meter.chargeAnswer(answer);
    call.throwIfAborted();
    return answer;
  } catch (thrown) {
    const cause = call.aborted ? call.reason : thrown;
    stop.abort(cause);
    meter.release();
    throw cause;
  } finally {
    clearTimeout(stepTimer);
    clearTimeout(idleTimer);
    release();
  }
}

function timeout(what: string, retryable = false): ModelFailure {
  return new ModelFailure(`The model did not ${what} in time.`, { kind: "timeout", retryable });
}
