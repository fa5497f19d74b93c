import { z } from "zod";

/** What a limit can apply to. `plan` is the plan of the workspace, `run` a single run. */
export const limitScope = z.enum(["plan", "workspace", "agent", "key", "trigger", "run"]);
export type LimitScope = z.infer<typeof limitScope>;

/** What a limit counts: micro-dollars, tokens, and milliseconds of voice and of a browser. */
export const limitMetric = z.enum(["cost", "tokens", "voice", "browser"]);
export type LimitMetric = z.infer<typeof limitMetric>;

const amount = z.number().int().nonnegative();

const limitState = {
  scope: limitScope,
  /** Id of the workspace, agent, key, trigger or run. */
  scope_id: z.string(),
  metric: limitMetric,
  /** Amount used in the current period or, if the scope is `run`, by the run. */
  used: amount,
  limit: amount,
};

/** A limit because of which a run ended or did not start. */
export const limitReached = z.object({
  ...limitState,
  /**
   * The amount that the rejected model call needs at least, if it is more than `limit`: the call
   * then fits into no period. Otherwise absent.
   */
  needed: amount.optional(),
  /** When the next period starts; null for the scope `run`, which has no periods. */
  resets_at: z.iso.datetime().nullable(),
});
export type LimitReached = z.infer<typeof limitReached>;

/** A limit for which a run waits, because other runs have reserved the rest of it. */
export const limitWaitedFor = z.object({
  ...limitState,
  /** What runs have reserved for their model calls in progress. */
  reserved: amount,
  resets_at: z.iso.datetime(),
});
export type LimitWaitedFor = z.infer<typeof limitWaitedFor>;

/** Data of the workspace event `usage.threshold`. */
export const usageThreshold = z.object({
  ...limitState,
  /**
   * The percentage of `limit` that `used` has reached. If a model call does not fit into what is
   * left, 100 percent count as reached although `used` is less.
   */
  percent: z.union([z.literal(50), z.literal(80), z.literal(100)]),
  resets_at: z.iso.datetime(),
});
