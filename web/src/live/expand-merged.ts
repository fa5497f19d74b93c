import type { StreamNotice, WorkspaceEvent } from "@beckon/client";

/**
 * Returns the event, preceded by the first of those that it has replaced, if it has replaced any.
 * Screens then count the start of the run, and know when it was: the first event is `run.started`,
 * unless that was read before. It has no `data`.
 */
export function expandMerged(
  event: WorkspaceEvent | StreamNotice,
): readonly (WorkspaceEvent | StreamNotice)[] {
  if (!("merged" in event) || event.merged === undefined) return [event];
  const { merged, ...rest } = event;
  const { seq, time } = merged;
  const first = { ...rest, id: `${event.id}.${seq}`, seq, type: merged.type, time, data: {} };
  return [first as WorkspaceEvent, event];
}
