import type { NewEvent } from "@beckon/contract";
import { assignCallIds } from "./assign-call-ids.ts";
import { conversation } from "./conversation.ts";
import { answeredSteps, callsOf, type Step } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { digestOf, lostCall } from "./lost-run.ts";
import { CallAborted, callModel } from "./model-call/index.ts";
import { ModelFailure } from "./model-failure.ts";
import { RunRecorder } from "./run-recorder.ts";
import type { RunRequest } from "./run-request.ts";
import { type Ending, endingAfter } from "./stop-conditions.ts";
import { finishCalls } from "./tool-call/index.ts";

/**
 * Executes a run until it ends or is stopped.
 *
 *     call model ──► the answer ends the run ──► end            (one durable write: step and end)
 *         ▲                  │ it contains tool calls
 *         │                  ▼
 *         └── results ◄── call tools ◄── step and intents durable
 *
 * An intent is a `run.tool_call` event, which is written before the tool is called. The loop finds
 * its first position from the journal, so another process can resume a run. If the journal has an
 * answered step, the run continues with the remaining tool calls of the last such step. If that
 * step's answer ends the run, the run ends at once. The model is called again only when every tool
 * call of the last step has a result.
 *
 * Resolves when the run has ended. Also resolves, without an end in the journal, when the run was
 * stopped as `fenced` or `drain` (see `StopReason`). Failures of models and tools do not reject the
 * promise.
 *
 * @throws any error of the journal except `RunStopped`.
 */
export async function executeRun(request: RunRequest): Promise<void> {
  const recorder = new RunRecorder(request.journal);
  let ending: Ending | undefined;
  try {
    ending = await runLoop(request, recorder);
  } catch (thrown) {
    ending = endingOf(thrown, request, recorder);
  }
  if (ending !== undefined) await endRun(recorder, ending);
}

async function runLoop(request: RunRequest, recorder: RunRecorder): Promise<Ending> {
  let step = answeredSteps(recorder.entries).at(-1);
  let unwritten: NewEvent[] = [];
  let lost = request.resumed ? lostModelCall(request, recorder) : undefined;

  for (;;) {
    if (step !== undefined) {
      const ending = endingAfter(step, request);
      if (ending !== undefined) {
        recorder.defer(unwritten);
        return ending;
      }
      await finishCalls(request, recorder, step, unwritten);
    }
    if (lost !== undefined && request.signal.aborted) recorder.defer([lost]);
    else if (lost !== undefined) await recorder.append([lost]);
    lost = undefined;
    step = await makeStep(request, recorder);
    unwritten = [{ type: "run.step", data: step }];
  }
}

async function makeStep(request: RunRequest, recorder: RunRecorder): Promise<Step> {
  const earlier = answeredSteps(recorder.entries);
  const number = earlier.length + 1;
  const answer = await callModel(
    request,
    number,
    conversation(request.instructions, request.input, recorder.entries),
  );
  return {
    step: number,
    model: request.modelName,
    parts: assignCallIds(
      answer.parts,
      number,
      earlier.flatMap(callsOf).map((call) => call.call_id),
    ),
    finish_reason: answer.finish,
    usage: answer.usage,
    duration_ms: answer.durationMs,
    retries: answer.retries,
  };
}

/**
 * Returns the event for the model call that was in flight when the run's earlier process was lost;
 * undefined if there was none.
 */
function lostModelCall(
  { instructions, input, modelName: model }: RunRequest,
  { entries }: RunRecorder,
): NewEvent | undefined {
  const characters = JSON.stringify(conversation(instructions, input, entries)).length;
  return lostCall(digestOf(entries), { model, characters });
}

type LostStep = Extract<NewEvent, { type: "run.step_lost" }>["data"];

function lostStep(
  { modelName }: RunRequest,
  recorder: RunRecorder,
  reason: LostStep["reason"],
  usage: LostStep["usage"],
): NewEvent {
  return {
    type: "run.step_lost",
    data: { step: answeredSteps(recorder.entries).length + 1, model: modelName, usage, reason },
  };
}

/**
 * Returns how the run ends after the loop threw. Returns undefined if this process does not end the
 * run, because it was stopped as `fenced` or `drain`.
 *
 * @throws `thrown` if it is neither a model failure nor a stop.
 */
function endingOf(thrown: unknown, request: RunRequest, recorder: RunRecorder): Ending | undefined {
  if (thrown instanceof ModelFailure) {
    return {
      status: "failed",
      error: {
        code: thrown.kind === "timeout" ? "model_timeout" : "model_error",
        message: thrown.message,
      },
    };
  }
  const stopped = thrown instanceof CallAborted ? thrown.stopped : thrown;
  const ending = stopped instanceof RunStopped ? endingOfStop(stopped) : undefined;
  if (thrown instanceof CallAborted && ending !== undefined) {
    recorder.defer([
      lostStep(
        request,
        recorder,
        ending.status === "cancelled" ? "cancelled" : "deadline_exceeded",
        thrown.usage,
      ),
    ]);
  }
  if (ending === undefined && !(stopped instanceof RunStopped) && !request.signal.aborted)
    throw thrown;
  return ending;
}

function endingOfStop({ reason }: RunStopped): Ending | undefined {
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
 * deadline, ends the run once more, with that outcome instead.
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
