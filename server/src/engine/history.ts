import type { AnswerPart, NewEvent, TokenUsage } from "@beckon/contract";
import { sumMicros } from "./price.ts";
import { totalUsage } from "./usage.ts";

export type Step = Extract<NewEvent, { type: "run.step" }>["data"];
export type ToolResult = Extract<NewEvent, { type: "run.tool_result" }>["data"];
export type CallPart = Extract<AnswerPart, { type: "tool_call" }>;

/** Returns the run's answered model calls, in order. */
export function answeredSteps(entries: readonly NewEvent[]): Step[] {
  return entries.flatMap((entry) => (entry.type === "run.step" ? [entry.data] : []));
}

export function callsOf(step: Step): CallPart[] {
  return step.parts.filter((part) => part.type === "tool_call");
}

/** Returns the tool results in a map by `call_id`, which is unique within a run. */
export function resultsByCall(entries: readonly NewEvent[]): Map<string, ToolResult> {
  return new Map(
    entries.flatMap((entry) =>
      entry.type === "run.tool_result" ? [[entry.data.call_id, entry.data]] : [],
    ),
  );
}

/**
 * Returns the ids of the tool calls that have an intent: a `run.tool_call` event, which is written
 * before the call is made. Each of these calls may have been executed.
 */
export function intendedCalls(entries: readonly NewEvent[]): Set<string> {
  return new Set(
    entries.flatMap((entry) => (entry.type === "run.tool_call" ? [entry.data.call_id] : [])),
  );
}

/** Returns the tool calls that have an intent (a `run.tool_call` event) and no result. */
export function openCalls(
  entries: readonly NewEvent[],
): Extract<NewEvent, { type: "run.tool_call" }>["data"][] {
  const results = resultsByCall(entries);
  return entries.flatMap((entry) =>
    entry.type === "run.tool_call" && !results.has(entry.data.call_id) ? [entry.data] : [],
  );
}

/** Returns the token usage of all model calls of the run, including calls without an answer. */
export function usageOf(entries: readonly NewEvent[]): TokenUsage {
  return totalUsage(modelCalls(entries).map(({ usage }) => usage));
}

/**
 * Returns the cost of all model calls of the run in micro-dollars. Null if the cost of one of them
 * is unknown or, in a journal that an older version of Beckon began, was not written.
 */
export function costOf(entries: readonly NewEvent[]): number | null {
  return sumMicros(modelCalls(entries).map(({ cost_micros }) => cost_micros));
}

function modelCalls(
  entries: readonly NewEvent[],
): Extract<NewEvent, { type: "run.step" | "run.step_lost" }>["data"][] {
  return entries.flatMap((entry) =>
    entry.type === "run.step" || entry.type === "run.step_lost" ? [entry.data] : [],
  );
}
