import type { NewEvent, RunError } from "@beckon/contract";
import { assignCallIds } from "./assign-call-ids.ts";
import { type ChosenBound, type LimitEnd, LimitStop, reachesBound } from "./call-limit.ts";
import { conversation } from "./conversation.ts";
import { answeredSteps, callsOf, costOf, type Step } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { digestOf, lostCall, lostStep, type ReportingEvent, type Stopped } from "./lost-run.ts";
import { type MeteredCall, spentBy } from "./metered-call.ts";
import { callModel, requestBytes, UnansweredCall } from "./model-call/index.ts";
import { ModelFailure } from "./model-failure.ts";
import { RunRecorder } from "./run-recorder.ts";
import type { RunRequest } from "./run-request.ts";
import { type Ending, endingAfter } from "./stop-conditions.ts";
import { finishCalls, resultsOfRelease } from "./tool-call/index.ts";
import { UnwrittenEnd } from "./unwritten-end.ts";

/**
 * Executes a run until it ends or is stopped.
 *
 *     call model ──► the answer ends the run ──► end            (one durable write: step and end)
 *         ▲                  │ it contains tool calls
 *         │                  ▼
 *         └── results ◄── call tools ◄── step and intents durable
 *
 * An intent is a `run.tool_call` event, which is written before the tool is called. The loop starts
 * where the journal ends, so another process can resume a run. If the journal has an answered step,
 * the run continues with the remaining tool calls of the last answered step. If the answer of that
 * step ends the run, the run ends at once. The model is called again only when every tool call of
 * the last step has a result.
 *
 * Resolves when the run has ended. Also resolves, without an end in the journal, when the run was
 * stopped as `fenced` or `drain` (see `StopReason`). Failures of models and tools do not reject the
 * promise.
 *
 * @returns after a stop as `drain`, the events that the caller must write together with the release
 *   of the run: results of tool calls that the next owner must not make, and the event for the model
 *   call that the journal does not report (see `JournalDigest.wasReported`). Empty after any other
 *   end.
 * @throws an unexpected error, for example of the database; the run has then ended as
 *   `interrupted`. {UnwrittenEnd} if the end could not be written.
 */
export async function executeRun(request: RunRequest): Promise<readonly ReportingEvent[]> {
  const recorder = new RunRecorder(request.journal);
  let ending: Ending;
  try {
    ending = await runLoop(request, recorder);
  } catch (thrown) {
    const unanswered = thrown instanceof UnansweredCall ? thrown : undefined;
    const reason = unanswered === undefined ? thrown : unanswered.reason;
    const calls = unanswered?.calls ?? [];
    const cause = causeOf(reason, request.signal);
    if (cause === undefined) return endInterrupted(reason, calls, recorder);
    const stopped = endingOf(cause);
    if (stopped === undefined) return eventsOfRelease(calls, request, recorder);
    if (unanswered !== undefined) recordUnanswered(unanswered, stopped, recorder);
    ending = stopped;
  }
  await endRun(recorder, ending).catch((thrown) => {
    throw new UnwrittenEnd(thrown, recorder.unwrittenCalls);
  });
  return [];
}

async function runLoop(request: RunRequest, recorder: RunRecorder): Promise<Ending> {
  const lost = request.resumed ? lostModelCall(request, recorder) : undefined;
  // If this process is lost during a call, the call must be estimated.
  if (request.wasWaiting && !request.signal.aborted) await request.recordWait?.(false);

  const last = answeredSteps(recorder.entries).at(-1);
  const resumedEnd = last && (await finishStep(request, recorder, { data: last }, []));
  if (resumedEnd !== undefined) return resumedEnd;
  if (lost !== undefined) {
    const report = recorder.report(lost);
    if (request.signal.aborted) recorder.defer([report]);
    else await recorder.append([report]);
  }

  for (;;) {
    const { calls, ...step } = await makeStep(request, recorder);
    const report = recorder.report({ event: { type: "run.step", data: step.data }, calls });
    const ending = await finishStep(request, recorder, step, [report]);
    if (ending !== undefined) return ending;
  }
}

/**
 * Calls the tools that a step asks for, if the run continues after the step.
 * @param unwritten events that are not durable yet: the step, if this process made it
 * @returns how the run ends; undefined if it continues with another step.
 */
async function finishStep(
  request: RunRequest,
  recorder: RunRecorder,
  { data, end, reachedBound, unknownReason }: OpenStep,
  unwritten: readonly NewEvent[],
): Promise<Ending | undefined> {
  const { maxSteps, settings } = request;
  const steps = answeredSteps(recorder.entries);
  const ending =
    end === undefined
      ? endingAfter(data, { maxSteps, settings, steps, reachedBound, unknownReason })
      : { status: "failed" as const, ...end };
  if (ending === undefined) await finishCalls(request, recorder, data, unwritten);
  else recorder.defer(unwritten);
  return ending;
}

interface MadeStep {
  readonly data: Step;
  readonly calls: readonly MeteredCall[];
  /** How the run ends if a limit truncated the answer. */
  readonly end: LimitEnd | undefined;
  /** The output bound that truncated the answer, if Beckon chose it. */
  readonly reachedBound: ChosenBound | undefined;
  /** The provider's finish reason; undefined if Beckon knows it. */
  readonly unknownReason: string | undefined;
}

/** A step that has been made, maybe by another process, and whose calls are not finished yet. */
type OpenStep = Pick<MadeStep, "data"> & Partial<Omit<MadeStep, "data" | "calls">>;

async function makeStep(request: RunRequest, recorder: RunRecorder): Promise<MadeStep> {
  const earlier = answeredSteps(recorder.entries);
  const number = earlier.length + 1;
  const answer = await callModel(
    request,
    number,
    conversation(request.instructions, request.input, recorder.entries),
    () => costOf(recorder.entries),
  );
  const data: Step = {
    step: number,
    model: request.modelName,
    parts: assignCallIds(
      answer.parts,
      number,
      earlier.flatMap(callsOf).map((call) => call.call_id),
    ),
    finish_reason: answer.finish,
    ...spentBy(answer.calls),
    duration_ms: answer.durationMs,
    retries: answer.retries,
  };
  const { calls, chosenBound, unknownReason } = answer;
  const isTruncated = answer.finish === "length";
  const end = isTruncated ? answer.endOfTruncated?.(calls) : undefined;
  const isAtBound =
    isTruncated && chosenBound !== undefined && reachesBound(calls, chosenBound.maxOutputTokens);
  return { data, calls, end, reachedBound: isAtBound ? chosenBound : undefined, unknownReason };
}

/**
 * Returns the event for the model call that was in flight when the run's earlier process was lost;
 * undefined if there was none, or if the journal reports it already.
 */
function lostModelCall(request: RunRequest, { entries }: RunRecorder): ReportingEvent | undefined {
  const { instructions, input, modelName: model, priceOf, wasWaiting = false } = request;
  const bytes = requestBytes(request, conversation(instructions, input, entries));
  return lostCall(digestOf(entries), { model, priceOf, bytes, wasWaiting });
}

/** Why a run ends or is released before its model has finished. */
type Cause = ModelFailure | LimitStop | RunStopped;

/**
 * Returns the cause of an error: a failure of the model, a limit or a stop. After a stop, any other
 * error counts as caused by the stop. Otherwise returns undefined: the error is unexpected.
 */
function causeOf(reason: unknown, signal: AbortSignal): Cause | undefined {
  return reason instanceof ModelFailure ||
    reason instanceof LimitStop ||
    reason instanceof RunStopped
    ? reason
    : stopOf(signal);
}

/**
 * Returns how the run ends for this cause. Returns undefined if this process does not end the run,
 * because it was stopped as `fenced` or `drain`.
 */
function endingOf(cause: Cause): Stopped | undefined {
  if (cause instanceof RunStopped) return endingOfStop(cause);
  if (cause instanceof LimitStop) return { status: "failed", ...cause.end };
  return {
    status: "failed",
    error: {
      code: cause.kind === "timeout" ? "model_timeout" : "model_error",
      message: cause.messageForCaller,
    },
    logMessage: cause.message,
  };
}

/** The error with which a run ends after an internal error of Beckon. */
export const internalError: RunError = {
  code: "interrupted",
  message:
    "Beckon failed to execute this run because of an internal error. The operator finds it in the log.",
};

/**
 * Ends the run after an unexpected error, then throws the error, so that the caller logs it.
 * @param calls the metered calls that no event in the journal reports yet.
 * @throws `reason`; {UnwrittenEnd} if the end could not be written either.
 */
async function endInterrupted(
  reason: unknown,
  calls: readonly MeteredCall[],
  recorder: RunRecorder,
): Promise<never> {
  recorder.reportAtEnd(calls);
  await recorder.end({ status: "failed", error: internalError }).catch(() => {
    throw new UnwrittenEnd(reason, recorder.unwrittenCalls);
  });
  throw reason;
}

/** Returns why the signal stopped the run; undefined if it has not aborted. */
function stopOf({ aborted, reason }: AbortSignal): RunStopped | undefined {
  if (!aborted) return undefined;
  return reason instanceof RunStopped ? reason : new RunStopped("drain");
}

/**
 * Records a model call that got no answer. If the run was stopped while an attempt was in flight, a
 * `run.step_lost` event reports all attempts of the call. Otherwise the event that ends the run
 * reports them.
 */
function recordUnanswered(
  { calls, inFlight }: UnansweredCall,
  ending: Stopped,
  recorder: RunRecorder,
): void {
  const [first, ...others] = calls;
  if (first === undefined) return;
  if (!inFlight) {
    recorder.reportAtEnd(calls);
    return;
  }
  const reason = ending.status === "cancelled" ? "cancelled" : "deadline_exceeded";
  recorder.defer([recorder.report(lostStep(reason, [first, ...others]))]);
}

/**
 * If the run was stopped because the process shuts down (`drain`), returns the events that complete
 * the journal: the run can be cancelled or expire before another process resumes it.
 *
 * - The tool calls that the next owner must not make get a result: see `resultsOfRelease`.
 * - The model calls that are missing in the journal are reported, so that they are metered. Either
 *   the stop aborted the call, during an attempt or between two attempts, or the event of the call
 *   could not be written any more.
 * @param aborted the metered calls of the aborted model call, if there is one.
 */
function eventsOfRelease(
  aborted: readonly MeteredCall[],
  { signal, tools }: RunRequest,
  recorder: RunRecorder,
): ReportingEvent[] {
  if (stopOf(signal)?.reason !== "drain") return [];
  const results = resultsOfRelease(tools, recorder.entries, recorder.unmadeCalls).map((event) => ({
    event,
    calls: [],
  }));
  const [first, ...others] = [...recorder.deferredCalls, ...aborted];
  return first === undefined ? results : [...results, lostStep("process_lost", [first, ...others])];
}

/**
 * Returns how a stopped run ends. Returns undefined if this process does not end it, because
 * another process owns the run (`fenced`) or will resume it (`drain`).
 */
export function endingOfStop({ reason }: RunStopped): Stopped | undefined {
  switch (reason) {
    case "cancelled":
      return {
        status: "cancelled",
        error: { code: "cancelled", message: "The run was cancelled." },
      };
    case "deadline":
      return {
        status: "failed",
        error: {
          code: "deadline_exceeded",
          message: "The run did not finish within its time limit.",
        },
      };
    case "fenced":
    case "drain":
      return undefined;
  }
}

/**
 * Ends the run. If the journal rejects the end because the run was cancelled or is past its
 * deadline, tries again to end it, as cancelled or as failed with `deadline_exceeded`.
 */
async function endRun(recorder: RunRecorder, ending: Ending): Promise<void> {
  try {
    await recorder.end(ending);
  } catch (thrown) {
    if (!(thrown instanceof RunStopped)) throw thrown;
    const instead = endingOfStop(thrown);
    if (instead === undefined) return;
    await recorder.end(instead).catch((again) => {
      if (!(again instanceof RunStopped) || endingOfStop(again) !== undefined) throw again;
    });
  }
}
