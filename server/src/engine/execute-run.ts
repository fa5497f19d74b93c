import type { NewEvent } from "@beckon/contract";
import { conversation } from "./conversation.ts";
import { answeredSteps, callsOf, type Step } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { digestOf, lostCall } from "./lost-run.ts";
import { CallCut, callModel } from "./model-call/index.ts";
import { ModelFailure } from "./model-failure.ts";
import { nameCalls } from "./name-calls.ts";
import { createRunRecorder, type RunRecorder } from "./run-recorder.ts";
import type { RunRequest } from "./run-request.ts";
import { type Ending, endingAfter } from "./stop-conditions.ts";
import { finishCalls } from "./tool-call/index.ts";

/**
 * Executes a run to its end, or until it is stopped.
 *
 *     ask the model ──► the answer ends the run ──► end            (one durable write: step and end)
 *           ▲                  │ it calls tools
 *           │                  ▼
 *           └── results ◄── call them ◄── step and intents durable
 *
 * Where it stands in this circle is read from the journal, never from memory: a run found with an answered step goes on
 * with that step's calls, or ends with it; the model is asked again only when nothing is left to do for what it said.
 *
 * Resolves once the run has ended, and silently, with nothing written, once it was stopped as `fenced` or `drain`. Never
 * rejects for what a model or a tool did; what the journal throws beside `RunStopped` is passed on.
 */
export async function executeRun(request: RunRequest): Promise<void> {
  const ledger = createRunRecorder(request.journal);
  let ending: Ending | undefined;
  try {
    ending = await work(request, ledger);
  } catch (thrown) {
    ending = endingOf(thrown, request, ledger);
  }
  if (ending !== undefined) await close(ledger, ending);
}

async function work(request: RunRequest, ledger: RunRecorder): Promise<Ending> {
  let step = answeredSteps(ledger.entries).at(-1);
  let unwritten: NewEvent[] = [];
  let lost = request.resumed ? lostBefore(request, ledger) : undefined;

  for (;;) {
    if (step !== undefined) {
      const ending = endingAfter(step, request);
      if (ending !== undefined) {
        ledger.defer(unwritten);
        return ending;
      }
      await finishCalls(request, ledger, step, unwritten);
    }
    if (lost !== undefined && request.signal.aborted) ledger.defer([lost]);
    else if (lost !== undefined) await ledger.append([lost]);
    lost = undefined;
    step = await askModel(request, ledger);
    unwritten = [{ type: "run.step", data: step }];
  }
}

async function askModel(request: RunRequest, ledger: RunRecorder): Promise<Step> {
  const earlier = answeredSteps(ledger.entries);
  const number = earlier.length + 1;
  const answer = await callModel(
    request,
    number,
    conversation(request.instructions, request.input, ledger.entries),
  );
  return {
    step: number,
    model: request.modelName,
    parts: nameCalls(
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

/** The model call that was in flight when an earlier process lost this run. */
function lostBefore(
  { instructions, input, modelName: model }: RunRequest,
  { entries }: RunRecorder,
): NewEvent | undefined {
  const characters = JSON.stringify(conversation(instructions, input, entries)).length;
  return lostCall(digestOf(entries), { model, characters });
}

type LostStep = Extract<NewEvent, { type: "run.step_lost" }>["data"];

function lostStep(
  { modelName }: RunRequest,
  ledger: RunRecorder,
  reason: LostStep["reason"],
  usage: LostStep["usage"],
): NewEvent {
  return {
    type: "run.step_lost",
    data: { step: answeredSteps(ledger.entries).length + 1, model: modelName, usage, reason },
  };
}

/** How the run ends after the loop was left by `thrown`; undefined: not by us. Anything that is neither is thrown on. */
function endingOf(thrown: unknown, request: RunRequest, ledger: RunRecorder): Ending | undefined {
  if (thrown instanceof ModelFailure) {
    return {
      status: "failed",
      error: {
        code: thrown.kind === "timeout" ? "model_timeout" : "model_error",
        message: thrown.message,
      },
    };
  }
  const stopped = thrown instanceof CallCut ? thrown.stopped : thrown;
  const ending = stopped instanceof RunStopped ? endingOfStop(stopped) : undefined;
  if (thrown instanceof CallCut && ending !== undefined) {
    ledger.defer([
      lostStep(
        request,
        ledger,
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

/** Ends the run. A journal that answers that the run is to be cancelled gets that end instead, once. */
async function close(ledger: RunRecorder, ending: Ending): Promise<void> {
  try {
    await ledger.end(ending);
  } catch (thrown) {
    if (!(thrown instanceof RunStopped)) throw thrown;
    const instead = endingOfStop(thrown);
    if (instead === undefined) return;
    await ledger.end(instead).catch((again) => {
      if (!(again instanceof RunStopped) || endingOfStop(again) !== undefined) throw again;
    });
  }
}
