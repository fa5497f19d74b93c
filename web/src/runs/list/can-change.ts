import type { WorkspaceEvent } from "@beckon/client";
import { serverNow } from "../../data/index.ts";
import { isMove, isNewRun } from "../live-runs.ts";
import { type RunFilters, timeOf } from "./filters/run-filters.ts";

/** Returns whether the event can change the newest page of the list with these filters. */
export function canChange(filters: RunFilters, event: WorkspaceEvent): boolean {
  const { agent_id, created_before, status, error, text } = filters;
  if (agent_id !== undefined && event.agent_id !== agent_id) return false;
  const dependsOnState = [status, error, text].some((filter) => filter !== undefined);
  if (dependsOnState && isMove(event)) return true;
  const nowMs = serverNow();
  const isPast = created_before !== undefined && (timeOf(created_before, nowMs) ?? 0) < nowMs;
  return isNewRun(event) && !isPast;
}
