import type { NewEvent, TokenUsage } from "@beckon/contract";
import { answeredSteps, callsOf, openCalls, resultsByCall } from "./history.ts";
import type { Outcome } from "./journal.ts";
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
  /** Usage of each model call, with or without an answer. */
  readonly usage: readonly TokenUsage[];
  /** Tool calls of the last answered step. */
  readonly lastCalls: readonly { readonly callId: string; readonly hasResult: boolean }[];
  /** Tool calls with an intent (a `run.tool_call` event) and no result, in order. */
  readonly open: readonly OpenCall[];
}

/** Model and prompt size of a lost model call. */
export interface Prompt {
  /** `provider/model`. */
  readonly model: string;
  /** Approximate number of characters of the whole prompt, including input and instructions. */
  readonly characters: number;
}

/** How a run that did not succeed ends. Its usage is added later. */
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
 * Returns the event, with estimated usage, for the model call that was probably in flight when the
 * process was lost. That is the case if no step was answered yet, or if all tool calls of the last
 * step had results. Returns undefined otherwise.
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
 * Returns a result with the outcome `unknown` for each call that has no result when its run ends.
 *
 * @param text the result that the journal shows for these calls.
 */
export function closeCalls(open: readonly OpenCall[], text: string): NewEvent[] {
  return open.map(({ step, call_id, tool }) => ({
    type: "run.tool_result",
    data: { step, call_id, tool, outcome: "unknown", result: text, duration_ms: 0 },
  }));
}

/**
 * Returns the final events and the outcome of a run without loading its journal. Tool calls without
 * a result get the outcome `unknown`.
 *
 * @param prompt is given if the process of the run was lost. If a model call was in flight, the
 *   usage then includes it.
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
 * Returns the end of a run whose processes were lost more often than allowed. The journal of the
 * run is not loaded, because the journal may be what crashed the processes. The usage is marked as
 * estimated, because the calls that were in flight are unknown.
 */
export function interrupt(digest: JournalDigest, prompt: Prompt): ReturnType<typeof endByDigest> {
  const error = {
    code: "interrupted" as const,
    message: "Every process that executed this run was lost before the run ended.",
  };
  const { added, outcome } = endByDigest(digest, { status: "failed", error }, prompt);
  return { added, outcome: { ...outcome, usage: { ...outcome.usage, estimated: true } } };
}
