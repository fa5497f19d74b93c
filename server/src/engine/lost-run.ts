import type { NewEvent, TokenUsage } from "@beckon/contract";
import { answeredSteps, callsOf, openCalls, resultsByCall } from "./history.ts";
import type { Outcome } from "./journal.ts";
import type { Ending } from "./stop-conditions.ts";
import { estimatedUsage, totalUsage } from "./usage.ts";

/** What of a run's journal decides what was lost with its process: ids, usage and sizes, no texts. */
export interface JournalDigest {
  /** Answered model calls. */
  readonly steps: number;
  /** Of answered and of lost model calls. */
  readonly usage: readonly TokenUsage[];
  /** Tool calls of the last answered step. */
  readonly lastCalls: readonly { readonly callId: string; readonly hasResult: boolean }[];
  /** Calls that were begun and have no result, in order. */
  readonly open: readonly OpenCall[];
}

/** What a model call that was lost had sent. */
export interface Prompt {
  /** `provider/model`. */
  readonly model: string;
  /** About so many, input and instructions included. */
  readonly characters: number;
}

/** The end of a run that did not succeed, before its usage is known. */
export type Stopped = Exclude<Ending, { readonly status: "succeeded" }>;

export interface OpenCall {
  readonly step: number;
  readonly call_id: string;
  readonly tool: string;
}

/** The digest of a journal in memory. */
export function digestOf(entries: readonly NewEvent[]): JournalDigest {
  const steps = answeredSteps(entries);
  const results = resultsByCall(entries);
  const last = steps.at(-1);
  return {
    steps: steps.length,
    usage: entries.flatMap((entry) =>
      entry.type === "run.step" || entry.type === "run.step_lost" ? [entry.data.usage] : [],
    ),
    lastCalls:
      last === undefined
        ? []
        : callsOf(last).map(({ call_id }) => ({
            callId: call_id,
            hasResult: results.has(call_id),
          })),
    open: openCalls(entries).map(({ step, call_id, tool }) => ({ step, call_id, tool })),
  };
}

/**
 * The model call that was probably in flight when the process was lost: there was no answer yet, or all that the last
 * one asked for had been done. Undefined: something else was under way. Its usage is estimated.
 */
export function lostCall(
  digest: JournalDigest,
  { model, characters }: Prompt,
): NewEvent | undefined {
  const { steps, lastCalls } = digest;
  const wasAsked =
    steps === 0 || (lastCalls.length > 0 && lastCalls.every(({ hasResult }) => hasResult));
  if (!wasAsked) return undefined;
  const usage = estimatedUsage({ input: characters, output: 0 });
  return { type: "run.step_lost", data: { step: steps + 1, model, usage, reason: "process_lost" } };
}

/** Results for calls that end with their run. @param text what is said of their outcome, which nobody knows. */
export function closeCalls(open: readonly OpenCall[], text: string): NewEvent[] {
  return open.map(({ step, call_id, tool }) => ({
    type: "run.tool_result",
    data: { step, call_id, tool, outcome: "unknown", result: text, duration_ms: 0 },
  }));
}

/**
 * How a run ends whose journal is not loaded: its open calls are closed as of unknown outcome.
 *
 * @param prompt of a run that lost its process, whose model call in flight is added to the usage.
 */
export function endByDigest(
  digest: JournalDigest,
  ending: Stopped,
  prompt?: Prompt,
): { readonly added: readonly NewEvent[]; readonly outcome: Outcome } {
  const closed = closeCalls(
    digest.open,
    "The run was ended before the tool answered. The call may or may not have taken effect.",
  );
  const lost = closed.length > 0 || prompt === undefined ? undefined : lostCall(digest, prompt);
  const spent = lost?.type === "run.step_lost" ? [lost.data.usage] : [];
  return {
    added: lost === undefined ? closed : [lost],
    outcome: { ...ending, usage: totalUsage([...digest.usage, ...spent]), cost_micros: null },
  };
}

/**
 * How a run ends that has lost as many processes as it can: nothing of it is executed or loaded, since its journal
 * may be what its processes died of. Its usage counts as estimated: nobody knows what was in flight.
 */
export function interrupt(digest: JournalDigest, prompt: Prompt): ReturnType<typeof endByDigest> {
  const error = {
    code: "interrupted" as const,
    message: "Every process that executed this run was lost before the run ended.",
  };
  const { added, outcome } = endByDigest(digest, { status: "failed", error }, prompt);
  return { added, outcome: { ...outcome, usage: { ...outcome.usage, estimated: true } } };
}
