import type { WorkspaceEvent } from "@beckon/client";

const refetchMs = 60_000;

/**
 * Returns the time in milliseconds after which agents are refetched; false for never. They are
 * refetched while a ceiling (daily spending limit) pauses one of them, because no event says that
 * the ceiling has reset or was raised.
 */
export const limitPollMs = (isPausedByLimit: boolean): number | false =>
  isPausedByLimit && refetchMs;

/**
 * Minimum time in milliseconds between two reads of agents after events with `mayChangePause`. All
 * runs of an agent whose ceiling is reached fail, which can be many in a second.
 */
export const pauseReadIntervalMs = 2_000;

/**
 * Returns whether the agent of the event may have been paused or resumed. A ceiling that pauses its
 * agent writes no `agent.paused`. The ceiling is reached when it rejects the cost of a model call,
 * often before all of it is spent, and the run that needs the call then fails.
 */
export function mayChangePause({ type, agent_id, data }: WorkspaceEvent): boolean {
  if (agent_id === null) return false;
  if (type === "run.failed") return scopeOf(data.limit) === "agent";
  return type === "agent.paused" || type === "agent.resumed" || type === "usage.threshold";
}

function scopeOf(limit: unknown): unknown {
  return typeof limit === "object" && limit !== null && "scope" in limit ? limit.scope : undefined;
}
