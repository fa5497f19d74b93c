import type { WorkspaceEvent } from "@beckon/client";
import { serverNow } from "../../data/index.ts";
import { isEnd, isNewRun } from "../live-runs.ts";
import { type RunFilters, timeOf } from "./filters/run-filters.ts";

/**
 * `run.queued` is not always the first event of a run: a held run is released with it, and a run
 * whose process stops goes back to the queue.
 */
const moves: ReadonlySet<string> = new Set(["run.queued", "run.started", "run.resumed"]);

/** Returns whether the event can change the newest page of the list with these filters. */
export function canChange(filters: RunFilters, event: WorkspaceEvent): boolean {
  const { agent_id, created_before, status, error, text } = filters;
  if (agent_id !== undefined && event.agent_id !== agent_id) return false;
  const nowMs = serverNow();
  if (created_before !== undefined && (timeOf(created_before, nowMs) ?? 0) < nowMs) return false;
  const dependsOnState = [status, error, text].some((filter) => filter !== undefined);
  const isMove = isEnd(event) || moves.has(event.type);
  return isNewRun(event) || (dependsOnState && isMove);
}
