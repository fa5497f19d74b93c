import { z } from "zod";
import { eventOnWire } from "./events.ts";
import { eventView } from "./responses.ts";
import { streamNotice, workspaceEvent } from "./workspace-events.ts";

const step = z.number().int().positive();

/**
 * Output of a model while it is generated. Only the server process that executes the run sends it,
 * so a reader that is connected to another process gets none. These events are not in the journal
 * and have no `seq`. A reader can miss any of them; the `run.step` that follows has the model's
 * complete response.
 */
export const outputEvent = z.discriminatedUnion("type", [
  z.object({
    /** A model call begins. Readers must discard the output of earlier attempts of this step. */
    type: z.literal("run.output.start"),
    run_id: z.string(),
    data: z.object({ step, attempt: z.number().int().positive() }),
  }),
  z.object({
    type: z.literal("run.output.delta"),
    run_id: z.string(),
    data: z.object({ step, kind: z.enum(["text", "reasoning"]), text: z.string() }),
  }),
  z.object({
    /**
     * The attempt of the model call has ended. `complete` is true if the deltas that were sent to
     * this reader contain the whole response. `error` says why the attempt failed. Unless the run
     * ends, another attempt follows, possibly after minutes.
     */
    type: z.literal("run.output.end"),
    run_id: z.string(),
    data: z.object({ step, complete: z.boolean(), error: z.string().optional() }),
  }),
]);
export type OutputEvent = z.infer<typeof outputEvent>;

/**
 * The last event of a stream whose credential is no longer valid. Readers must not resume the
 * stream with the same credential. The event is not in the journal. A stream that ends without this
 * event, and before its run has ended, can be resumed.
 */
export const streamClosed = z.object({
  type: z.literal("stream.closed"),
  data: z.object({ code: z.enum(["unauthorized"]), message: z.string() }),
});
export type StreamClosed = z.infer<typeof streamClosed>;

/** The `data` of one server-sent event. Readers must ignore unknown types. */
export const streamEvent = z.union([
  outputEvent,
  streamClosed,
  streamNotice,
  workspaceEvent,
  eventOnWire,
]);
export type StreamEvent = z.infer<typeof streamEvent>;

/**
 * Query of a stream of a run's events. `after` is the last `seq` that the client received; the
 * stream starts with the run's first event if it is absent. The header `Last-Event-ID` takes
 * precedence over `after`.
 */
export const streamQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,9}$/, "must be the seq of an event, a whole number")
    .optional(),
  view: eventView,
});
