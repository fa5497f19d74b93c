import { z } from "zod";
import { pageQuery } from "./responses.ts";

/** Maximum of a limit in money: $1,000,000,000, in micro-dollars. */
export const maxLimitMicros = 1_000_000_000_000_000;

/** What a ceiling, which is a daily limit of cost, applies to. */
export const ceilingScope = z.enum(["workspace", "agent", "key", "trigger"]);
export type CeilingScope = z.infer<typeof ceilingScope>;

/** Body of `PUT /limits/:scope/:scope_id`. */
export const setCeilingBody = z.strictObject({
  /** Maximum cost of a day, in micro-dollars. With 0, no call that costs money is made. */
  limit_micros: z.number().int().min(0).max(maxLimitMicros),
  /**
   * Whether the agent is paused when the ceiling is reached, until the ceiling resets or is raised.
   * Only for the scope `agent`.
   */
  pauses_agent: z.boolean().default(false),
});

/** Query of `GET /limits`. */
export const ceilingsQuery = z.strictObject({
  ...pageQuery.shape,
  scope: ceilingScope.optional(),
});

const micros = z.number().int().nonnegative();

/**
 * A daily limit of cost. The day is a date in the workspace's time zone. A ceiling is not part of
 * an agent's version, so changing it creates no version.
 */
export const ceiling = z.object({
  scope: ceilingScope,
  /** Id of the workspace, agent, key or trigger. */
  scope_id: z.string(),
  /** Name of what the ceiling applies to; null if it was deleted or you cannot read it. */
  name: z.string().nullable(),
  limit_micros: micros,
  pauses_agent: z.boolean(),
  /** Cost since `starts_at`. */
  spent_micros: micros,
  /** Reserved for calls in progress. What a call did not use is released when the call ends. */
  reserved_micros: micros,
  /** What is neither spent nor reserved. */
  left_micros: micros,
  /**
   * True if the limit is spent, or if a model call was rejected since `starts_at` because it did
   * not fit into what was left. A smaller call can still fit.
   */
  reached: z.boolean(),
  starts_at: z.iso.datetime(),
  resets_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Ceiling = z.infer<typeof ceiling>;
