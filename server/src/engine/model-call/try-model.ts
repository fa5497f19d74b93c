import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { meterCalls } from "../../base/egress/index.ts";
import { ModelFailure } from "../model-failure.ts";
import { raceSignal } from "../race-signal.ts";
import { CallMeter } from "./call-meter.ts";
import { collectStream, type OnText } from "./collect-stream.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { refuseInBand } from "./refuse-in-band.ts";

export interface ModelTry {
  readonly model: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
  readonly streamed: boolean;
  /** Stops the try; its reason is thrown. */
  readonly signal: AbortSignal;
  /** When the step's time is over, on the clock of `base/clock.ts`. */
  readonly endsAt: number;
  readonly firstByteMs: number;
  readonly onText: OnText;
  /** Bytes of the answer, at most. */
  readonly maxAnswerBytes: number;
  /**
   * Counts what the try holds, and its answer until it is released; undefined: nothing is counted.
   */
  readonly hold: ByteHold | undefined;
}

/**
 * Calls the model once. Whatever the model does, this settles when the signal aborts or the time is over, and an
 * unfinished request is aborted.
 *
 * @throws the signal's reason, `ModelFailure` (time-out, answer not whole), or what the model threw or wrote as its error.
 */
export async function tryModel(request: ModelTry): Promise<Answer> {
  const { model, options, streamed, signal, endsAt, firstByteMs, onText, maxAnswerBytes, hold } = request;
  const call = new AbortController();
  const meter = new CallMeter({ hold, maxBytes: maxAnswerBytes, streamed, stop: (failure) => call.abort(failure) });
  meterCalls(call.signal, meter);
  const stop = () => call.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const stepTimer = setTimeout(() => call.abort(outOfTime("finish its answer")), Math.max(0, endsAt - elapsed()));
  const called = { ...options, abortSignal: call.signal };
  const ask = async () => {
    if (!streamed) {
      const result = await raceSignal(model.doGenerate(called), call.signal);
      refuseInBand(result.response?.body);
      return readAnswer({ ...result, streamed });
    }

    const firstByteTimer = setTimeout(() => call.abort(outOfTime("begin its answer", true)), firstByteMs);
    const { stream } = await raceSignal(model.doStream(called), call.signal).finally(() => clearTimeout(firstByteTimer));
    return readAnswer(await collectStream(stream, call.signal, { onText, onRead: (bytes) => meter.read(bytes) }));
  };
  try {
    const answer = await ask();
    meter.weigh(answer);
    call.signal.throwIfAborted();
    return answer;
  } catch (thrown) {
    const cause = call.signal.aborted ? call.signal.reason : thrown;
    call.abort(cause);
    meter.release();
    throw cause;
  } finally {
    clearTimeout(stepTimer);
    signal.removeEventListener("abort", stop);
  }
}

function outOfTime(what: string, retryable = false): ModelFailure {
  return new ModelFailure(`The model did not ${what} in time.`, { kind: "timeout", retryable });
}
