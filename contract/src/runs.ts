import { z } from "zod";
import { runError, tokenUsage } from "./events.ts";
import { isStorableText } from "./text.ts";

/** `queued → running → succeeded | failed | cancelled`; the last three never change. Clients must accept further values. */
export const runStatus = z.enum(["queued", "running", "succeeded", "failed", "cancelled"]);
export type RunStatus = z.infer<typeof runStatus>;

/** Body of invoke. Unknown members are ignored, as the fixed contract says. */
export const invokeBody = z.object({
  input: z
    .string({ error: 'must be a string, for example {"input": "Hello"}' })
    .min(1, "must not be empty")
    .refine(isStorableText, "must not contain NUL or a lone surrogate"),
});

/** How a run came about. An open set: doors add theirs. */
const runSource = z.enum(["invoke", "trigger"]);
export type RunSource = z.infer<typeof runSource>;

export const run = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_version: z.number().int().positive(),
  status: z.string(),
  source: z.string(),
  trigger_id: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
  error: runError.nullable(),
  usage: tokenUsage,
  cost_micros: z.number().int().nonnegative().nullable(),
  attempt: z.number().int().positive(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof run>;
