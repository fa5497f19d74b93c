import { z } from "zod";
import { commaList } from "./comma-list.ts";
import {
  type EventType,
  eventData,
  eventOnWire,
  type WorkspaceEventType,
  workspaceEventData,
} from "./events.ts";
import { eventView, pageQuery, yesOrNo } from "./responses.ts";

/** Opaque position of an event, for `after` and `Last-Event-ID`. */
const cursor = z.string();

/** An event of a workspace: a journal entry of a run, or a workspace event. */
export const workspaceEvent = z.union([
  z.object({
    ...eventOnWire.shape,
    agent_id: z.string(),
    cursor,
    /**
     * With `merge=true`: the first of the run's events that this event replaces. Absent if it
     * replaces none. A reader that has resumed can have read that event already.
     */
    merged: z
      .object({ seq: z.number().int().positive(), type: z.string(), time: z.iso.datetime() })
      .optional(),
  }),
  // A workspace event. `agent_id` is null if it concerns the whole workspace.
  z.object({
    ...eventOnWire.shape,
    run_id: z.null(),
    seq: z.null(),
    agent_id: z.string().nullable(),
    cursor,
  }),
]);
export type WorkspaceEvent = z.infer<typeof workspaceEvent>;

/** Events about a workspace's stream itself. They are not stored. */
export const streamNotice = z.discriminatedUnion("type", [
  /**
   * Gives a first cursor to a reader that sent none. A reader that loads data over REST after this
   * event, and then applies the events of the stream, misses no change.
   */
  z.object({ type: z.literal("stream.opened"), cursor: z.string(), data: z.object({}) }),
  /**
   * The database was restored from a backup, or PostgreSQL failed over to a standby, since the
   * reader's cursor was issued. Or the cursor, which is encrypted for readers that are limited to
   * some agents, is from before a change of the master key. The reader must discard and reload its
   * data.
   */
  z.object({
    type: z.literal("stream.reset"),
    cursor: z.string(),
    data: z.object({ message: z.string() }),
  }),
]);
export type StreamNotice = z.infer<typeof streamNotice>;

const eventTypes = Object.keys({ ...eventData, ...workspaceEventData }) as (
  | EventType
  | WorkspaceEventType
)[];

const filter = {
  /** Only events of this agent. */
  agent_id: z.string().max(100).optional(),
  kind: commaList(z.enum(eventTypes)),
  view: eventView,
  /**
   * `true`: an event that ends a run can replace the run's earlier events that are read at the same
   * time, except `run.queued` and `run.waiting`, and has `merged`. For readers that show the states
   * of many runs. `kind` must then be absent, or name all kinds with which runs end. Default:
   * false.
   */
  merge: yesOrNo.optional().meta({
    description:
      "`true`: an event that ends a run can replace the run's earlier events. Needs `run.finished`, `run.failed` and `run.cancelled` in `kind`, or no `kind`.",
  }),
};

/** The kinds of events with which runs end. */
export const endKinds: readonly EventType[] = ["run.finished", "run.failed", "run.cancelled"];
/** An event of another kind could otherwise replace the events of the requested kinds. */
const canMerge = ({
  kind,
  merge,
}: {
  kind?: readonly (EventType | WorkspaceEventType)[] | undefined;
  merge?: string | undefined;
}) => merge !== "true" || kind === undefined || endKinds.every((each) => kind.includes(each));
const cannotMerge = { path: ["merge"], error: `needs ${endKinds.join(", ")} in kind, or no kind` };

/**
 * Query of `GET /events`. `after` is the cursor of an event; by default the list starts with the
 * oldest event.
 */
export const workspaceEventsQuery = z
  .strictObject({
    limit: pageQuery.shape.limit,
    after: z.string().max(200).optional(),
    ...filter,
  })
  .refine(canMerge, cannotMerge);
/**
 * Query of `GET /events` as a stream. Without `after` or the header `Last-Event-ID`, the stream has
 * only events that are written after it was opened.
 */
export const workspaceStreamQuery = z
  .strictObject({
    after: z.string().max(200).optional(),
    ...filter,
  })
  .refine(canMerge, cannotMerge);
