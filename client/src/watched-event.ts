import type { ListEventsAnswer, RunEvent, StreamEvent } from "./generated/schemas.ts";

/** An entry of a run's journal. Later versions add types: ignore unknown ones. */
export interface JournalEvent extends RunEvent {
  readonly type:
    | "run.queued"
    /** The run is held: its agent is paused or a limit is spent. */
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
 * An event of `events.watch`: a journal entry of a run, or a workspace event. A workspace event has
 * null as `run_id` and `seq`. It is sent only if the option `kind` of `events.watch` names its
 * type. `cursor` is the position of the event among all events of the workspace.
 */
export type WorkspaceEvent =
  | (Extract<ListEventsAnswer, { run_id: string }> & Pick<JournalEvent, "type">)
  | (Extract<ListEventsAnswer, { run_id: null }> & {
      readonly type: "agent.paused" | "agent.resumed" | "usage.threshold" | "subscription.disabled";
    });

/**
 * Events about a workspace's stream. `stream.opened` marks the start of the stream. `stream.reset`
 * means that the cursor is from before Beckon was restored, its PostgreSQL failed over or its
 * master key was changed, so the reader must load all data again.
 */
export type StreamNotice = Extract<StreamEvent, { type: "stream.opened" | "stream.reset" }>;

/**
 * The last event of a stream whose credential is no longer valid. With the same credential the
 * stream cannot be resumed.
 */
export type StreamClosed = Extract<StreamEvent, { type: "stream.closed" }>;

/** An event of `runs.watch`: a journal entry or output of the model. */
export type WatchedEvent = JournalEvent | OutputEvent;

/** Returns whether an event of this type is the last one of its run. */
export function isFinalEvent({ type }: { readonly type: string }): boolean {
  return type === "run.finished" || type === "run.failed" || type === "run.cancelled";
}
