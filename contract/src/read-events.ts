import { z } from "zod";
import { answerPart, type EventType, eventData } from "./events.ts";

/** In `data` above 64 KiB: the artifact with all of it, and its size. */
const artifact = {
  artifact_id: z.string().optional(),
  bytes: z.number().int().positive().optional(),
};
const size = z.number().int().nonnegative().optional();
const [text, reasoning, toolCall] = answerPart.options;

/**
 * The `data` of each event type as the API returns it. A summary has the sizes of texts in place of
 * the texts. In the types whose `data` can be large, an artifact can replace any field: see
 * `eventOnWire`. The client's types are generated from these schemas.
 */
export const readEventData = {
  ...eventData,
  "run.step": eventData["run.step"]
    .extend({
      parts: z.array(
        z.discriminatedUnion("type", [
          text.partial({ text: true }).extend({ bytes: size }),
          reasoning.partial({ text: true }).extend({ bytes: size }),
          toolCall.partial({ arguments: true }).extend({ bytes: size }),
        ]),
      ),
    })
    .partial()
    .extend(artifact),
  "run.tool_call": eventData["run.tool_call"].partial().extend(artifact),
  "run.tool_result": eventData["run.tool_result"].partial().extend(artifact),
  "run.finished": eventData["run.finished"].partial().extend({ ...artifact, output_bytes: size }),
} as const satisfies Readonly<Record<EventType, z.ZodType>>;
