import type { ListEventsAnswer, RunEvent, StreamEvent } from "./generated/schemas.ts";

/** An entry of a run's journal. Later versions add kinds: ignore those that you do not know. */
export interface JournalEvent extends RunEvent {
  readonly type:
    | "run.queued"
    /** Reserved: not sent yet. */
    | "run.waiting"
    | "run.started"
    | "run.resumed"
    | "run.step"
    | "run.step_lost"
    | "run.tool_call"
    | "run.tool_result"
    | "run.finished"
    | "run.failed"
    | "run.cancelled";
}

/**
 * What the model says while it speaks. It is in no journal: some or all of it may be missing, and what was said is in the `run.step` that
 * follows. After a `start` what earlier attempts of the step said no longer counts.
 */
export type OutputEvent = Extract<StreamEvent, { type: `run.output.${string}` }>;

/**
 * An entry of some run's journal, or an event that belongs to no run: its `run_id` and `seq` are
 * null, and it comes only if `kind` names it. `cursor` is its place among the workspace's events.
 */
export type WorkspaceEvent =
  | (Extract<ListEventsAnswer, { run_id: string }> & Pick<JournalEvent, "type">)
  | (Extract<ListEventsAnswer, { run_id: null }> & {
      readonly type: "agent.paused" | "agent.resumed";
    });

/**
 * What the stream of a workspace says of itself: `stream.opened`, it begins here; `stream.reset`, the cursor was of another history, one from before a
 * restore, so what was kept must be read again.
 */
export type StreamNotice = Extract<StreamEvent, { type: "stream.opened" | "stream.reset" }>;

/** The last event of a stream that must not be resumed. */
export type StreamClosed = Extract<StreamEvent, { type: "stream.closed" }>;

/** What a watcher of one run gets: its journal, and between the entries what the model says. */
export type WatchedEvent = JournalEvent | OutputEvent;

/** Nothing follows it. */
export function endsRun({ type }: WatchedEvent): boolean {
  return type === "run.finished" || type === "run.failed" || type === "run.cancelled";
}
