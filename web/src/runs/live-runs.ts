import {
  isFinalEvent,
  type JournalEvent,
  type ListedRun,
  type WorkspaceEvent,
} from "@beckon/client";
import { isEnded, patchRun } from "./patch-run.ts";

/** The events of the workspace's stream about the states of runs, by run id. */
export type LiveRuns = ReadonlyMap<string, readonly JournalEvent[]>;

/** A run that a screen shows. */
export type ShownRun = Pick<ListedRun, "id" | "finished_at">;

/**
 * Maximum number of runs whose events are kept, not counting those that a screen shows and has not
 * read as ended. Without their events, such runs would return to the state that was read.
 */
const maxRuns = 2_000;

/**
 * Events that move a run to another state before it ends. `run.queued` and `run.waiting` are among
 * them, because they can follow other events: a held run is queued when it is released, a run whose
 * process stops is queued again, and a limit can hold a run after its start.
 */
const moves: ReadonlySet<string> = new Set([
  "run.queued",
  "run.waiting",
  "run.started",
  "run.resumed",
]);

/** Returns whether the event changes the state of a run. */
export function isMove(event: WorkspaceEvent): boolean {
  return moves.has(event.type) || isFinalEvent(event);
}

function isOfRun(event: WorkspaceEvent): event is Extract<WorkspaceEvent, JournalEvent> {
  return event.run_id !== null;
}

/** Returns whether this is the first event of its run. */
export function isNewRun(event: WorkspaceEvent): boolean {
  return event.seq === 1;
}

/**
 * Returns the map after these events. Only events that change the state of a run are added. The
 * events of each run are ordered by `seq`, because they can arrive in another order. If there are
 * more than `maxRuns` runs, those whose last event arrived first are removed.
 * @param shown the runs that the screen shows, as they were read
 */
export function addEvents(
  live: LiveRuns,
  events: readonly WorkspaceEvent[],
  shown: readonly ShownRun[] = [],
): LiveRuns {
  const states = events.filter(isOfRun).filter(isMove);
  if (states.length === 0) return live;
  const next = new Map(live);
  for (const event of states) {
    const known = next.get(event.run_id) ?? [];
    if (known.some(({ seq }) => seq === event.seq)) continue;
    // Moves the run to the end of the map, so that runs without new events are removed first.
    next.delete(event.run_id);
    next.set(
      event.run_id,
      [...known, event].toSorted((a, b) => a.seq - b.seq),
    );
  }
  if (next.size <= maxRuns) return next;
  const needed = new Set(shown.filter((run) => !isEnded(run)).map(({ id }) => id));
  for (const runId of next.keys()) {
    if (next.size <= maxRuns) break;
    if (!needed.has(runId)) next.delete(runId);
  }
  return next;
}

/**
 * Returns a run of a list with its events applied. A run that has ended in the list is returned
 * unchanged, because the list can be newer than the events.
 */
export function patched<Row extends ListedRun>(row: Row, live: LiveRuns): Row {
  const events = live.get(row.id);
  if (events === undefined || isEnded(row)) return row;
  return events.reduce<Row>((run, event) => patchRun(run, event) as Row, row);
}
