import { z } from "zod";
import { limitMetric } from "./limit-reached.ts";
import { maxLimitMicros } from "./limits.ts";
import { pageQuery } from "./responses.ts";
import { cleanText } from "./text.ts";

/** The name of the built-in plan without limits. Workspaces have it until another plan is set. */
export const unlimitedPlan = "unlimited";

/** Maximum of an allowance, which is what a plan allows per month, in the unit of its metric. */
export const maxAllowance = maxLimitMicros;

/**
 * Maximum number of plans in the operator's file. The plans that are created at `/plans` are
 * counted separately and have the same maximum.
 */
export const maxPlans = 200;

/** A plan's name. It cannot be changed later. */
export const planName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit",
  );

const allowance = z.number().int().min(0).max(maxAllowance).nullable();

const allowances = z.strictObject({
  /** Input and output tokens per month; null means unlimited. */
  tokens: allowance,
  /** Milliseconds of voice per month; null means unlimited. */
  voice_ms: allowance,
  /** Milliseconds of a browser per month; null means unlimited. */
  browser_ms: allowance,
  /** Micro-dollars per month; null means unlimited. */
  cost_micros: allowance,
});
/** What a plan allows per month. null means unlimited. */
export type Allowances = z.infer<typeof allowances>;

/** Body of `POST /plans`. */
export const createPlanBody = z.strictObject({
  name: planName,
  tokens: allowance.default(null),
  voice_ms: allowance.default(null),
  browser_ms: allowance.default(null),
  cost_micros: allowance.default(null),
});

/** Body of `PATCH /plans/:plan_id`. Fields that are absent keep their values. */
export const updatePlanBody = allowances.partial();

/**
 * Where a plan comes from. `built_in`: the plan `unlimited`, which every installation has.
 * `operator`: the operator's file (the setting BECKON_PLANS). `api`: created at `/plans`.
 */
const planOrigin = z.enum(["built_in", "operator", "api"]);

/** A plan: what a workspace can use per month. */
export const plan = z.object({
  /** `pln_…`; null for a plan that cannot be changed through the API. */
  id: z.string().nullable(),
  name: z.string(),
  origin: planOrigin,
  ...allowances.shape,
  /** null for a plan that cannot be changed through the API. */
  created_at: z.iso.datetime().nullable(),
  /** null for a plan that cannot be changed through the API. */
  updated_at: z.iso.datetime().nullable(),
});
export type Plan = z.infer<typeof plan>;

const anchorDay = z.number().int().min(1).max(31);

/** The plan that replaces the current one, and when. */
const plannedChange = z.object({ plan: z.string(), starts_at: z.iso.datetime() });

/** A workspace with its plan, as the operator sees it. */
export const workspacePlan = z.object({
  workspace_id: z.string(),
  workspace_name: z.string(),
  time_zone: z.string(),
  plan: z.string(),
  /** null if no change is planned. */
  next_plan: plannedChange.nullable(),
  /**
   * Day of the calendar month on which a month of the plan begins. In a calendar month without this
   * day, the month of the plan begins on the last day.
   */
  anchor_day: z.number().int(),
});
export type WorkspacePlan = z.infer<typeof workspacePlan>;

/** Query of `GET /workspace-plans`. */
export const workspacePlansQuery = z.strictObject({
  ...pageQuery.shape,
  plan: cleanText(100).min(1).optional().meta({
    description: "Only workspaces that are on this plan or change to it.",
  }),
});

/**
 * Body of `PATCH /workspace-plans/:target_workspace_id`. A plan that takes effect now cancels a
 * planned change.
 */
export const updateWorkspacePlanBody = z
  .strictObject({
    plan: planName.optional(),
    /** `now`, or `period_end`: when the current month of the plan ends. */
    takes_effect: z.enum(["now", "period_end"]).default("now"),
    /** The day on which months of the plan begin. Takes effect when the current month ends. */
    anchor_day: anchorDay.optional(),
  })
  .refine(({ plan, anchor_day }) => plan !== undefined || anchor_day !== undefined, {
    path: ["plan"],
    error: "is missing: send plan, anchor_day or both",
  });

const amount = z.number().int().nonnegative();

/** The workspace's plan, and the amounts used in the current month. */
export const planUsage = z.object({
  plan: z.string(),
  /** null if no change is planned. */
  next_plan: plannedChange.nullable(),
  anchor_day: z.number().int(),
  time_zone: z.string(),
  /** When the current month of the plan began. */
  starts_at: z.iso.datetime(),
  /** When the current month of the plan ends. */
  resets_at: z.iso.datetime(),
  /** One entry per metric. Units: tokens, milliseconds of voice and browser, micro-dollars. */
  metrics: z.array(
    z.object({
      metric: limitMetric,
      /** null: unlimited. */
      allowance: amount.nullable(),
      /**
       * Used since `starts_at`, the start of the plan's current month. For the metric `cost`, this
       * is the sum of the known costs, at the prices of the operator's file or of Beckon's library.
       * Models without such a price count at the workspace's own prices. `used` is null only if all
       * of these are true: `allowance` is null, the sum is 0, and the cost of at least one call is
       * unknown.
       */
      used: amount.nullable(),
      /** Number of calls whose cost is unknown and not in `used`; 0 if the metric is not `cost`. */
      unknown_cost_entries: amount,
      /**
       * Reserved for calls in progress. What a call did not use is released when the call ends.
       */
      reserved: amount,
      /** What is neither used nor reserved; null: unlimited. */
      left: amount.nullable(),
      /**
       * True if the allowance is used up, or if a model call was rejected since `starts_at` because
       * it did not fit into what was left. A smaller call can still fit.
       */
      reached: z.boolean(),
      resets_at: z.iso.datetime(),
    }),
  ),
});
export type PlanUsage = z.infer<typeof planUsage>;
