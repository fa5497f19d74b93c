import type { NewEvent, TokenUsage } from "@beckon/contract";
import { areAllReported } from "../base/journal/index.ts";
import { answeredSteps, callsOf, costOf, openCalls, resultsByCall, usageOf } from "./history.ts";
import type { Outcome } from "./journal.ts";
import { type MeteredCall, meteredModelCall, type ReportedCall, spentBy } from "./metered-call.ts";
import { type PriceOf, sumMicros } from "./price.ts";
import type { Ending } from "./stop-conditions.ts";
import { estimatedUsage, totalUsage } from "./usage.ts";

/**
 * Summary of a journal, without texts. It shows the run's usage, and which calls were in flight
 * when the run's process was lost. A process is lost if it stops executing the run without ending
 * it, for example after a crash.
 */
export interface JournalDigest {
  /** Number of answered model calls. */
  readonly steps: number;
  /** Usage of all model calls, with or without an answer. */
  readonly usage: TokenUsage;
  /** Cost of all model calls in micro-dollars; null if it is unknown. */
  readonly costMicros: number | null;
  /** Tool calls of the last answered step. */
  readonly lastCalls: readonly { readonly callId: string; readonly hasResult: boolean }[];
  /** Tool calls with an intent (a `run.tool_call` event) and no result, in order. */
  readonly open: readonly OpenCall[];
  /**
   * Whether the journal reports all model calls that the run's earlier processes sent. That is so
   * if the journal ends with a release of the run, which reports these calls, followed by a claim.
   * `base/journal/reported-calls.ts` has the exact condition.
   */
  readonly wasReported: boolean;
}

/** Model, price and prompt size of a lost model call. */
export interface Prompt {
  /** The model in the form `provider/model`. */
  readonly model: string;
  readonly priceOf: PriceOf;
  /** Approximate size of the request in bytes: instructions, tools, input and earlier steps. */
  readonly bytes: number;
  /**
   * Whether the run waited for a limit, its provider or memory when its process was lost, so that
   * no model call was in flight. Default false.
   */
  readonly wasWaiting?: boolean;
}

/** An event, and the metered calls that it reports. */
export interface ReportingEvent {
  readonly event: NewEvent;
  readonly calls: readonly MeteredCall[];
}

/** How a run that did not succeed ends. The usage of the run is added later. */
export type Stopped = Exclude<Ending, { readonly status: "succeeded" }>;

export interface OpenCall {
  readonly step: number;
  readonly call_id: string;
  readonly tool: string;
}

/** Returns the digest of a journal that is in memory. */
export function digestOf(entries: readonly NewEvent[]): JournalDigest {
  const steps = answeredSteps(entries);
  const results = resultsByCall(entries);
  const last = steps.at(-1);
  return {
    steps: steps.length,
    usage: usageOf(entries),
    costMicros: costOf(entries),
    lastCalls:
      last === undefined
        ? []
        : callsOf(last).map(({ call_id }) => ({
            callId: call_id,
            hasResult: results.has(call_id),
          })),
    open: openCalls(entries).map(({ step, call_id, tool }) => ({ step, call_id, tool })),
    wasReported: areAllReported(entries),
  };
}

/**
 * Returns the event, with estimated usage, for the model call that was probably in flight when the
 * process was lost. A model call was probably in flight if no step was answered yet, or if all tool
 * calls of the last answered step had results. Returns undefined otherwise, and also if the run
 * waited for a limit, its provider or memory, or the journal reports all calls already.
 */
export function lostCall(
  digest: JournalDigest,
  { model, priceOf, bytes, wasWaiting = false }: Prompt,
): ReportingEvent | undefined {
  const { steps, lastCalls, wasReported } = digest;
  if (wasWaiting || wasReported) return undefined;
  const wasAsked =
    steps === 0 || (lastCalls.length > 0 && lastCalls.every(({ hasResult }) => hasResult));
  if (!wasAsked) return undefined;
  const usage = estimatedUsage({ input: bytes, output: 0 });
  const step = steps + 1;
  return lostStep("process_lost", [
    meteredModelCall(priceOf, { step, modelName: model, outcome: "lost", usage }),
  ]);
}

type LostStep = Extract<NewEvent, { type: "run.step_lost" }>["data"];

/** Returns the event for a model call without an answer. `calls` are its attempts, at least one. */
export function lostStep(
  reason: LostStep["reason"],
  calls: readonly [MeteredCall, ...MeteredCall[]],
): ReportingEvent {
  const [{ step, modelName: model }] = calls;
  return {
    event: { type: "run.step_lost", data: { step, model, ...spentBy(calls), reason } },
    calls,
  };
}

const notMade =
  "This call was not made, because the run was stopped first. Repeat it if it is still needed.";

/**
 * Returns a result for each call that has none when its run ends or is released: with the outcome
 * `unknown`, or with `refused` if the call was not made.
 *
 * @param text the result that the journal shows for calls with the outcome `unknown`.
 * @param unmade the ids of calls whose tool was certainly not called. Default: none.
 */
export function closeCalls(
  open: readonly OpenCall[],
  text: string,
  unmade?: ReadonlySet<string>,
): NewEvent[] {
  return open.map(({ step, call_id, tool }) => {
    const end = unmade?.has(call_id)
      ? ({ outcome: "refused", result: notMade } as const)
      : ({ outcome: "unknown", result: text } as const);
    return { type: "run.tool_result", data: { step, call_id, tool, ...end, duration_ms: 0 } };
  });
}

/** The end of a run whose journal is not loaded. */
export interface DigestEnd {
  /** Events to add before the one that ends the run. */
  readonly added: readonly NewEvent[];
  /** The metered calls that these events and the one that ends the run report. */
  readonly calls: readonly ReportedCall[];
  readonly outcome: Outcome;
}

/**
 * Returns the final events and the outcome of a run without loading its journal. Tool calls without
 * a result get the outcome `unknown`.
 *
 * @param prompt is given if the process of the run was lost. If a model call was in flight, the
 *   usage then includes it.
 * @param unwritten calls that the journal does not report. The event at the end of the run reports
 *   them. Default: none.
 */
export function endByDigest(
  digest: JournalDigest,
  ending: Stopped,
  prompt?: Prompt,
  unwritten: readonly MeteredCall[] = [],
): DigestEnd {
  const closed = closeCalls(
    digest.open,
    "The run was ended before the tool answered. The call may or may not have taken effect.",
  );
  const lost = closed.length > 0 || prompt === undefined ? undefined : lostCall(digest, prompt);
  const { event, calls } = lost ?? { calls: [] };
  const spent = spentBy([...calls, ...unwritten]);
  const added = event === undefined ? closed : [event];
  return {
    added,
    calls: [
      ...calls.map((call) => ({ entry: 0, call })),
      ...unwritten.map((call) => ({ entry: added.length, call })),
    ],
    outcome: {
      ...ending,
      usage: totalUsage([digest.usage, spent.usage]),
      cost_micros: sumMicros([digest.costMicros, spent.cost_micros]),
    },
  };
}

/**
 * Returns the end of a run that is not resumed, for example because its processes were lost more
 * often than allowed. The journal of the run is not loaded, because the journal may be what crashed
 * the processes. The usage is marked as estimated, because the calls that were in flight are
 * unknown.
 * @param message why the run is not resumed. Default: its processes were lost.
 */
export function interrupt(
  digest: JournalDigest,
  prompt: Prompt,
  message = "Every process that executed this run was lost before the run ended.",
): DigestEnd {
  const error = { code: "interrupted" as const, message };
  // The last claim in the journal is that of the lost process. `wasReported` covers only the
  // processes before it. The lost process itself has probably sent a model call that the journal
  // does not report.
  const claimed = { ...digest, wasReported: false };
  const end = endByDigest(claimed, { status: "failed", error }, prompt);
  return { ...end, outcome: { ...end.outcome, usage: { ...end.outcome.usage, estimated: true } } };
}
