import type { RunErrorCode } from "@beckon/contract";
import { pause } from "../../base/clock.ts";
import { type Database, retryWhileLost } from "../../base/database/index.ts";
import { ApiError, messageOf, stackOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import {
  endByDigest,
  endingOfStop,
  internalError,
  type Journal,
  lostCall,
  type MeteredCall,
  type ReportingEvent,
  RunStopped,
  type Stopped,
  type StopReason,
  UnwrittenEnd,
} from "../../engine/index.ts";
import { nothingUsed, readPricedDigest } from "../journal/index.ts";
import type { Pricer } from "../pricer.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "../subscribing/index.ts";
import type { Capacity } from "./capacity.ts";
import { type Claim, type JournalPorts, RunJournal } from "./run-journal.ts";

/** The services that ending runs needs. */
export interface EndPorts extends JournalPorts {
  readonly database: Database;
  readonly log: Log;
  readonly capacity: Pick<Capacity, "isDraining">;
  readonly pricer: Pricer;
}

/** A run that this process owns. */
interface EndedRun extends Claim {
  readonly resumed: boolean;
}

/**
 * Pauses between two attempts to write the end of a run. The first pause is short, because most
 * causes are brief. The pauses double up to `maxPauseMs`, because the run's own data can be the
 * cause: every attempt then fails, and a batch that contains the run is written row by row.
 */
const minPauseMs = 250;
const maxPauseMs = 10_000;

/** Why this process has to end a run. */
interface Failure {
  readonly thrown: unknown;
  /** undefined if the engine was not called. */
  readonly journal: Journal | undefined;
  /** The model calls of the engine that no event in the journal reports. */
  readonly calls: readonly MeteredCall[];
}

/**
 * Ends a run that failed before the engine executed it, or whose end the engine could not write.
 * The engine itself ends all other runs. If this process did not end the run, the run would stay
 * `running` for as long as this process lives, since no other process takes it over. So the write
 * is repeated until it succeeds, another process owns the run, or this process stops. Never
 * rejects.
 */
export async function endAfterError(
  ports: EndPorts,
  live: LiveRun,
  run: EndedRun,
  failure: Failure,
): Promise<void> {
  const thrown = failure.thrown instanceof UnwrittenEnd ? failure.thrown.cause : failure.thrown;
  const reported = new Set<string>();
  // Each cause is logged once, however often it repeats.
  const report = (each: unknown) => {
    const reason = messageOf(each);
    if (reported.has(reason)) return;
    reported.add(reason);
    logUnexpected(ports, run, each);
  };
  report(thrown);
  for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    // A cancelled run ends as cancelled, even if it could not have been executed anyway.
    const reason = stopReason(live) === "cancelled" ? live.signal.reason : thrown;
    try {
      return await writeEnd(ports, live, run, { ...failure, thrown: reason, report });
    } catch (again) {
      report(again);
      if (isFenced(live, again)) return;
      // The drain releases the run. It cannot stop a run that was already stopped, for example by
      // its cancellation. Other processes take over such a run when this process has exited.
      if (ports.capacity.isDraining && live.signal.aborted) return;
    }
    // Once the run was stopped, its signal would end each pause at once.
    await pause(pauseMs, live.signal.aborted ? undefined : live.signal);
  }
}

/** Returns whether another process owns the run, or will own it. */
function isFenced(live: LiveRun, thrown: unknown): boolean {
  return (
    stopReason(live) === "fenced" || (thrown instanceof RunStopped && thrown.reason === "fenced")
  );
}

async function writeEnd(
  ports: EndPorts,
  live: LiveRun,
  run: EndedRun,
  { thrown, journal, calls, report }: Failure & { readonly report: (thrown: unknown) => void },
): Promise<void> {
  const hasBegun = run.resumed || journal !== undefined;
  const ending = endOf(thrown, hasBegun);
  if (live.outcome !== undefined || ending === undefined) return;
  const writable = journal ?? new RunJournal(ports, live, run);
  if (!hasBegun) return writable.end({ ...ending, ...nothingUsed }, [], []);
  const read = await retryWhileLost(() => readPricedDigest(ports, run)).catch(report);
  if (read === undefined)
    return writable.end(
      { ...ending, usage: { ...nothingUsed.usage, estimated: true }, cost_micros: null },
      [],
      calls.map((call) => ({ entry: 0, call })),
    );
  // If `endByDigest` gets the prompt, it adds the estimated usage of the model call that was lost
  // when an earlier process exited. If there is a `journal`, the engine has already added that
  // usage, or it is in `calls`.
  const {
    added,
    calls: reported,
    outcome,
  } = endByDigest(read.digest, ending, journal === undefined ? read.prompt : undefined, calls);
  await writable.end(outcome, added, reported);
}

/**
 * Returns the event for the model call that was lost with the run's earlier process; an empty list
 * if there is none. The event must be written with the release, because the run may get no next
 * owner. The list is also empty if the journal cannot be read: a next owner then reports the call.
 */
export async function readLostCall(
  ports: Pick<EndPorts, "database" | "pricer" | "log">,
  run: RunRef,
): Promise<readonly ReportingEvent[]> {
  const read = await retryWhileLost(() => readPricedDigest(ports, run)).catch((thrown) =>
    logUnexpected(ports, run, thrown),
  );
  const lost = read && lostCall(read.digest, read.prompt);
  return lost === undefined ? [] : [lost];
}

/**
 * Returns the status and error with which to end a run whose execution threw `thrown` before the
 * engine had ended the run. Undefined if this process must not end it, because another process
 * owns the run (`fenced`) or will resume it (`drain`).
 * @param hasBegun whether the engine may have executed a part of the run.
 */
function endOf(thrown: unknown, hasBegun: boolean): Stopped | undefined {
  const failed = (code: RunErrorCode, message: string): Stopped => ({
    status: "failed",
    error: { code, message },
  });
  if (thrown instanceof ApiError) {
    const { code, message } = thrown;
    return failed(code === "deadline_exceeded" ? code : "model_error", message);
  }
  if (!(thrown instanceof RunStopped)) return { status: "failed", error: internalError };
  if (thrown.reason === "deadline" && !hasBegun)
    return failed(
      "deadline_exceeded",
      "The run reached its timeout before it could begin. Retry it, or raise the agent's timeout_seconds.",
    );
  return endingOfStop(thrown);
}

/** Returns why the run was stopped; undefined if it was not. */
export function stopReason(live: LiveRun): StopReason | undefined {
  const { reason } = live.signal;
  return reason instanceof RunStopped ? reason.reason : undefined;
}

/** Logs an error of a run, unless the run was stopped or the caller of the run gets the error. */
export function logUnexpected(
  { log }: Pick<EndPorts, "log">,
  { runId }: RunRef,
  thrown: unknown,
): void {
  if (thrown instanceof RunStopped || thrown instanceof ApiError) return;
  log.write("executing a run failed unexpectedly", {
    run_id: runId,
    reason: messageOf(thrown),
    stack: stackOf(thrown),
  });
}
