import type { NewEvent, TokenUsage } from "@beckon/contract";
import { answeredSteps, callsOf, openCalls, resultsByCall } from "./history.ts";
import type { Outcome } from "./journal.ts";
import type { Ending } from "./stop-conditions.ts";
import { estimatedUsage, totalUsage } from "./usage.ts";

/**
 * Summary of a journal, without texts: enough to tell what a lost process had in flight and what
 * the run used.
 */
export interface JournalDigest {
  /** Number of answered model calls. */
  readonly steps: number;
  /** Usage of each model call, answered or lost. */
  readonly usage: readonly TokenUsage[];
  /** Tool calls of the last answered step. */
  readonly lastCalls: readonly { readonly callId: string; readonly hasResult: boolean }[];
  /** Tool calls with an intent and no result, in order. */
  readonly open: readonly OpenCall[];
}

/** Size of the prompt of a lost model call. */
export interface Prompt {
  /** `provider/model`. */
  readonly model: string;
  /** Approximate number of characters, input and instructions included. */
  readonly characters: number;
}

/** How a run that did not succeed ends, before its usage is known. */
export type Stopped = Exclude<Ending, { readonly status: "succeeded" }>;

export interface OpenCall {
  readonly step: number;
  readonly call_id: string;
  readonly tool: string;
}

/** Returns the digest of a journal in memory. */
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
 * Returns the event for the model call that was probably in flight when the process was lost: no
 * step was answered yet, or all tool calls of the last step had results. Undefined otherwise. Its
 * usage is estimated.
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

/**
 * Returns results with outcome `unknown` for calls that end with their run.
 *
 * @param text the result that the journal shows for them.
 */
export function closeCalls(open: readonly OpenCall[], text: string): NewEvent[] {
  return open.map(({ step, call_id, tool }) => ({
    type: "run.tool_result",
    data: { step, call_id, tool, outcome: "unknown", result: text, duration_ms: 0 },
  }));
}

/**
 * Returns the final events and outcome of a run without loading its journal. Open tool calls get
 * the outcome `unknown`.
 *
 * @param prompt given if the run lost its process: adds the model call in flight to the usage.
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
 * Returns the end of a run that exceeded its allowed number of lost processes. Its journal is not
 * loaded, because it may be what crashed them. The usage is marked as estimated: the calls in
 * flight are unknown.
 */
export function interrupt(digest: JournalDigest, prompt: Prompt): ReturnType<typeof endByDigest> {
  const error = {
    code: "interrupted" as const,
    message: "Every process that executed this run was lost before the run ended.",
  };
  const { added, outcome } = endByDigest(digest, { status: "failed", error }, prompt);
  return { added, outcome: { ...outcome, usage: { ...outcome.usage, estimated: true } } };
}
