import type { EventType, WorkspaceEventType } from "@beckon/contract";

/**
 * All event types are listed, because the server sends workspace events only if `kind` names them.
 * The type makes the compiler reject the list if it lacks a type of the contract.
 */
const kinds = Object.keys({
  "run.queued": true,
  "run.waiting": true,
  "run.started": true,
  "run.resumed": true,
  "run.step": true,
  "run.step_lost": true,
  "run.tool_call": true,
  "run.tool_result": true,
  "run.finished": true,
  "run.failed": true,
  "run.cancelled": true,
  "agent.paused": true,
  "agent.resumed": true,
  "usage.threshold": true,
  "subscription.disabled": true,
} satisfies Record<EventType | WorkspaceEventType, true>).join(",");

/**
 * Query of the stream of a workspace's events. Those of a run that are read together are merged, so
 * that the server sends fewer.
 */
export const streamQuery = { kind: kinds, view: "summary", merge: "true" } as const;
