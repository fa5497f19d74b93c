import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { elapsed } from "../base/clock.ts";
import { collectStream, type OnText } from "./collect-stream.ts";
import { ModelFailure } from "./model-failure.ts";
import { raceSignal } from "./race-signal.ts";
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
}

/**
 * Calls the model once. Whatever the model does, this settles when the signal aborts or the time is over, and an
 * unfinished request is aborted.
 *
 * @throws the signal's reason, `ModelFailure` (time-out, answer not whole), or what the model threw or wrote as its error.
 */
export async function tryModel({ model, options, streamed, signal, endsAt, firstByteMs, onText }: ModelTry): Promise<Answer> {
  const call = new AbortController();
  const stop = () => call.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const stepTimer = setTimeout(() => call.abort(outOfTime("finish its answer")), Math.max(0, endsAt - elapsed()));
  const called = { ...options, abortSignal: call.signal };
  try {
    if (!streamed) {
      const result = await raceSignal(model.doGenerate(called), call.signal);
      refuseInBand(result.response?.body);
      return readAnswer({ ...result, streamed });
    }

    const firstByteTimer = setTimeout(() => call.abort(outOfTime("begin its answer", true)), firstByteMs);
    const { stream } = await raceSignal(model.doStream(called), call.signal).finally(() => clearTimeout(firstByteTimer));
    return readAnswer(await collectStream(stream, call.signal, onText));
  } catch (thrown) {
    const cause = call.signal.aborted ? call.signal.reason : thrown;
    call.abort(cause);
    throw cause;
  } finally {
    clearTimeout(stepTimer);
    signal.removeEventListener("abort", stop);
  }
}

function outOfTime(what: string, retryable = false): ModelFailure {
  return new ModelFailure(`The model did not ${what} in time.`, { kind: "timeout", retryable });
}
