import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { linkAbort, raceSignal } from "../../base/abort.ts";
import type { ByteHold } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { meterCalls } from "../../base/egress/index.ts";
import { ModelFailure } from "../model-failure.ts";
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
  const { model, options, streamed, signal, endsAt, firstByteMs, onText, maxAnswerBytes, hold } =
    request;
  const { controller: stop, release } = linkAbort(signal);
  const call = stop.signal;
  const meter = new CallMeter({
    hold,
    maxBytes: maxAnswerBytes,
    streamed,
    stop: (failure) => stop.abort(failure),
  });
  meterCalls(call, meter);
  const stepTimer = setTimeout(
    () => stop.abort(outOfTime("finish its answer")),
    Math.max(0, endsAt - elapsed()),
  );
  const called = { ...options, abortSignal: call };
  const ask = async () => {
    if (!streamed) {
      const result = await raceSignal(model.doGenerate(called), call);
      refuseInBand(result.response?.body);
      return readAnswer({ ...result, streamed });
    }

    const firstByteTimer = setTimeout(
      () => stop.abort(outOfTime("begin its answer", true)),
      firstByteMs,
    );
    const { stream } = await raceSignal(model.doStream(called), call).finally(() =>
      clearTimeout(firstByteTimer),
    );
    return readAnswer(
      await collectStream(stream, call, { onText, onRead: (bytes) => meter.read(bytes) }),
    );
  };
  try {
    const answer = await ask();
    meter.weigh(answer);
    call.throwIfAborted();
    return answer;
  } catch (thrown) {
    const cause = call.aborted ? call.reason : thrown;
    stop.abort(cause);
    meter.release();
    throw cause;
  } finally {
    clearTimeout(stepTimer);
    release();
  }
}

function outOfTime(what: string, retryable = false): ModelFailure {
  return new ModelFailure(`The model did not ${what} in time.`, { kind: "timeout", retryable });
}
