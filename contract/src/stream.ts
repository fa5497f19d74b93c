import { z } from "zod";
import { eventOnWire } from "./events.ts";
import { streamNotice, workspaceEvent } from "./workspace-events.ts";

/**
 * What a stream carries beside journal events. None of it is in the journal, and none has a `seq`: a reader may miss any of it, and finds
 * what the model said in the `run.step` that follows.
 */

const step = z.number().int().positive();

/** What a model says while it speaks: told by the process that executes the run to who watches there. */
export const outputEvent = z.discriminatedUnion("type", [
  z.object({
    /** The model is asked. What earlier attempts of this step said no longer counts. */
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
    /** The attempt is over. `complete`: its deltas are the whole answer, and this reader was sent all of them. */
    type: z.literal("run.output.end"),
    run_id: z.string(),
    data: z.object({ step, complete: z.boolean() }),
  }),
]);
export type OutputEvent = z.infer<typeof outputEvent>;

/** The last event of a stream that must not be resumed as it was. A stream that ends with neither this nor the end of its run may be. */
export const streamClosed = z.object({
  type: z.literal("stream.closed"),
  data: z.object({ code: z.enum(["unauthorized"]), message: z.string() }),
});
export type StreamClosed = z.infer<typeof streamClosed>;

/** The `data` of one frame. Readers ignore types that they do not know. */
export const streamEvent = z.union([
  outputEvent,
  streamClosed,
  streamNotice,
  workspaceEvent,
  eventOnWire,
]);
export type StreamEvent = z.infer<typeof streamEvent>;

/** The `?after=` of a stream: the last seq that the reader has seen. The header Last-Event-ID wins. */
export const streamQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,9}$/, "must be the seq of an event, a whole number")
    .optional(),
});
