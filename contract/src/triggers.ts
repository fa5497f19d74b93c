import { z } from "zod";
import { cleanText, name } from "./text.ts";

/** Body of `POST /agents/:agent_id/triggers`. */
export const createTriggerBody = z.strictObject({
  name,
  /**
   * Text before the payload in the run's input, separated from the payload by an empty line. If it
   * is empty, the input is the payload only.
   */
  prompt_prefix: cleanText(100_000).default(""),
  enabled: z.boolean().default(true),
});

/** Body of `PATCH …/triggers/:trigger_id`. */
export const updateTriggerBody = z.strictObject({
  name: name.optional(),
  prompt_prefix: cleanText(100_000).optional(),
  enabled: z.boolean().optional(),
});

/** A trigger in responses. The trigger's URL is only in responses that issue or reveal it. */
export const trigger = z.object({
  id: z.string(),
  agent_id: z.string(),
  name: z.string(),
  prompt_prefix: z.string(),
  enabled: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Trigger = z.infer<typeof trigger>;
