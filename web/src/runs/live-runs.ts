import type { JournalEvent, ListedRun, WorkspaceEvent } from "@beckon/client";
import { isEnded, patchRun } from "./patch-run.ts";

/** What the workspace's stream has said about the states of runs, by run id. */
export type LiveRuns = ReadonlyMap<string, readonly JournalEvent[]>;

/** Runs of which events are kept. A list reads the others again before it misses them. */
const maxRuns = 2_000;

const kept: ReadonlySet<string> = new Set([
  "run.started",
  "run.resumed",
  "run.finished",
  "run.failed",
  "run.cancelled",
]);

function isOfRun(event: WorkspaceEvent): event is Extract<WorkspaceEvent, JournalEvent> {
  return event.run_id !== null;
}

/** Returns whether this is the first event of its run. */
export function isNewRun(event: WorkspaceEvent): boolean {
  return event.seq === 1;
}

/** Returns whether the run has ended with this event. */
export function isEnd({ type }: WorkspaceEvent): boolean {
  return type === "run.finished" || type === "run.failed" || type === "run.cancelled";
}

/** Adds events. Each run's are kept in the order of `seq`, whatever order they arrive in. */
export function addEvents(live: LiveRuns, events: readonly WorkspaceEvent[]): LiveRuns {
  const states = events.filter(isOfRun).filter(({ type }) => kept.has(type));
  if (states.length === 0) return live;
  const next = new Map(live);
  for (const event of states) {
    const known = next.get(event.run_id) ?? [];
    if (known.some(({ seq }) => seq === event.seq)) continue;
    // Runs with news come last, so that those without leave first.
    next.delete(event.run_id);
    next.set(
      event.run_id,
      [...known, event].toSorted((a, b) => a.seq - b.seq),
    );
  }
  for (const runId of next.keys()) {
    if (next.size <= maxRuns) break;
    next.delete(runId);
  }
  return next;
}

/**
 * Returns a run of a list as it is after its events. The response that the list was read from can
 * be older or newer than they are: a run that has ended stays as it is.
 */
export function patched<Row extends ListedRun>(row: Row, live: LiveRuns): Row {
  const events = live.get(row.id);
  if (events === undefined || isEnded(row)) return row;
  return events.reduce<Row>((run, event) => patchRun(run, event) as Row, row);
}
