import type { ListEventsAnswer, RunEvent, StreamEvent } from "./generated/schemas.ts";

/** An entry of a run's journal. Later versions add types: ignore unknown ones. */
export interface JournalEvent extends RunEvent {
  readonly type:
    | "run.queued"
    /** Reserved, not sent yet. */
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
 * Output of the model while it is generated. It is not in the journal and can be incomplete; the
 * `run.step` that follows has the whole response. After `run.output.start`, discard the output of
 * earlier attempts of that step.
 */
export type OutputEvent = Extract<StreamEvent, { type: `run.output.${string}` }>;

/**
 * A journal entry of any run, or a workspace event, whose `run_id` and `seq` are null and which is
 * sent only if `kind` names its type. `cursor` is its position among the workspace's events.
 */
export type WorkspaceEvent =
  | (Extract<ListEventsAnswer, { run_id: string }> & Pick<JournalEvent, "type">)
  | (Extract<ListEventsAnswer, { run_id: null }> & {
      readonly type: "agent.paused" | "agent.resumed";
    });

/**
 * Events about a workspace's stream. `stream.opened`: it starts here. `stream.reset`: the database
 * was restored from a backup, so data that was stored must be read again.
 */
export type StreamNotice = Extract<StreamEvent, { type: "stream.opened" | "stream.reset" }>;

/** The last event of a stream that must not be resumed. */
export type StreamClosed = Extract<StreamEvent, { type: "stream.closed" }>;

/** An event of `runs.watch`: a journal entry or output of the model. */
export type WatchedEvent = JournalEvent | OutputEvent;

/** Returns whether the event is the last one of its run. */
export function isFinalEvent({ type }: WatchedEvent): boolean {
  return type === "run.finished" || type === "run.failed" || type === "run.cancelled";
}
