import type { JournalEventData, WorkspaceEventData } from "./generated/event-data.ts";
import type { ListEventsAnswer, RunEvent, StreamEvent } from "./generated/schemas.ts";

/** One type of event per entry of `Data`, so that a check of `type` narrows `data`. */
type Typed<Event, Data> = {
  [Type in keyof Data]: Omit<Event, "type" | "data"> & {
    readonly type: Type;
    readonly data: Data[Type];
  };
}[keyof Data];

/**
 * An entry of a run's journal. Later versions add types: ignore unknown ones. In `data` above
 * 64 KiB, `artifact_id` and `bytes` replace fields. With `view: "summary"`, `data` has the sizes of
 * texts in place of the texts.
 */
export type JournalEvent = Typed<RunEvent, JournalEventData>;

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
  | Typed<Extract<ListEventsAnswer, { run_id: string }>, JournalEventData>
  | Typed<Extract<ListEventsAnswer, { run_id: null }>, WorkspaceEventData>;

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
