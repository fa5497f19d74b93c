import { z } from "zod";
import { pageQuery } from "./answers.ts";
import { commaList } from "./comma-list.ts";
import {
  type EventType,
  eventData,
  eventOnWire,
  reservedEventTypes,
  type WorkspaceEventType,
  workspaceEventData,
} from "./events.ts";

/** Its place among all events, for `after` and `Last-Event-ID`: what follows it comes after it. */
const cursor = z.string();

/** One of a workspace's events in their common order: of a run, or of none. */
export const workspaceEvent = z.union([
  z.object({ ...eventOnWire.shape, agent_id: z.string(), cursor }),
  // Belongs to no run. Without an agent it is about the workspace as a whole.
  z.object({
    ...eventOnWire.shape,
    run_id: z.null(),
    seq: z.null(),
    agent_id: z.string().nullable(),
    cursor,
  }),
]);
export type WorkspaceEvent = z.infer<typeof workspaceEvent>;

/** What a workspace's stream says of itself. Neither is stored. */
export const streamNotice = z.discriminatedUnion("type", [
  /** A reader who came without a cursor has its first one: what is read over REST from now on, and this stream, leave no gap. */
  z.object({ type: z.literal("stream.opened"), cursor: z.string(), data: z.object({}) }),
  /** The reader's cursor is of another history of this installation, one from before a restore: what the reader knows may not be so. */
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
  /** An agent of the workspace. */
  agent_id: z.string().max(100).optional(),
  kind: commaList(z.enum(eventTypes), reservedEventTypes),
};

/** Query of `GET /events`. `after`: the cursor of an event; without it, from the first event there is. */
export const workspaceEventsQuery = z.strictObject({
  limit: pageQuery.shape.limit,
  after: z.string().max(200).optional(),
  ...filter,
});
/** Query of the stream. Without a cursor, in `Last-Event-ID` or here, it begins now. */
export const workspaceStreamQuery = z.strictObject({
  after: z.string().max(200).optional(),
  ...filter,
});
