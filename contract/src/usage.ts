import { z } from "zod";
import { tag } from "./runs.ts";
import { cleanText } from "./text.ts";

/** What usage can be grouped by. */
const usageGroup = z.enum(["day", "hour", "agent", "model", "caller", "metric", "tag"]);
export type UsageGroup = z.infer<typeof usageGroup>;

/** What is metered: tokens of models, and seconds of voice and of a browser. */
const usageMetric = z.enum(["tokens", "voice_seconds", "browser_seconds"]);
export type UsageMetric = z.infer<typeof usageMetric>;

const dateOrTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/**
 * A date, or a time with an offset. Only the years 1970 to 9998 are accepted: reports also compute
 * dates some days earlier or later, and compare dates as text. For that, all years need four
 * digits.
 */
export const usageMoment = cleanText(40)
  .refine(
    (text) => dateOrTime.safeParse(text).success,
    "must be a date, for example 2026-01-31, or an RFC 3339 time, for example 2026-01-31T09:30:00Z",
  )
  .refine((text) => text >= "1970" && text < "9999", "must be in the years 1970 to 9998");

const groupBy = z
  .string()
  .max(100)
  .transform((text) => text.split(","))
  .pipe(
    z
      .array(usageGroup)
      .max(2)
      .refine((names) => new Set(names).size === names.length, "must not name a group twice"),
  )
  .optional()
  .meta({
    description: `Comma-separated list of at most two of: ${usageGroup.options.join(", ")}. Default: day.`,
  });

const someText = (max: number) => cleanText(max).min(1).optional();

/** Query of `GET /usage`. */
export const usageQuery = z.strictObject({
  // `limit` has no default, because the server must reject a `limit` that is sent with format=csv.
  // It could not distinguish a default from a sent value.
  limit: z.coerce.number().int().min(1).max(1_000).optional().meta({
    description: "Maximum number of rows of a page, by default 1,000. Not with `format=csv`.",
  }),
  // The maximum is higher than for cursors of lists, because this cursor contains the group of a
  // row.
  after: z.string().max(4_000).optional().meta({
    description: "The `next` of the previous page. Not with `format=csv`.",
  }),
  from: usageMoment.optional().meta({
    description:
      "First day, in the workspace's time zone, or an RFC 3339 time, inclusive. By default the report has 30 days.",
  }),
  to: usageMoment.optional().meta({
    description:
      "Last day, inclusive, or an RFC 3339 time, exclusive. Default: now if `from` is a time, else today or the newest day with usage, whichever is later.",
  }),
  group_by: groupBy,
  agent_id: someText(100),
  model: someText(400).meta({ description: "`provider/model`." }),
  caller: someText(200).meta({ description: "As in the rows, for example `key:key_…`." }),
  tag: tag.optional().meta({ description: "One of the run's tags." }),
  format: z.enum(["json", "csv"]).default("json"),
});

const count = z.number().int().nonnegative();

/** Sums of usage. */
const amounts = {
  /** Metered calls, including calls that failed or whose response was lost. */
  entries: count,
  /** Includes cached and cache-written tokens. */
  input_tokens: count,
  /** Includes reasoning tokens. */
  output_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
  voice_ms: count,
  browser_ms: count,
  /** Sum of the known costs, in micro-dollars. Null if it is 0 and an entry has no known cost. */
  cost_micros: count.nullable(),
  /** Entries without a price. Their cost is not in `cost_micros`. */
  unknown_cost_entries: count,
  /**
   * Entries with a count that Beckon estimated: the provider reported none or an impossible one.
   */
  estimated_entries: count,
} as const;

const usageTotals = z.object(amounts);
export type UsageTotals = z.infer<typeof usageTotals>;

/** One row of the report: all amounts, and the optional fields for what `group_by` names. */
const usageRow = z.object({
  /** Date in the time zone that the workspace had on that day. */
  day: z.iso.date().optional(),
  /** Start of the hour. */
  hour: z.iso.datetime().optional(),
  agent_id: z.string().optional(),
  /** Null if the credential cannot read the agent. */
  agent_name: z.string().nullable().optional(),
  /** `provider/model`. */
  model: z.string().optional(),
  /** Who started the run: `token:agt_…`, `key:key_…`, `trigger:trg_…` or `user:usr_…`. */
  caller: z.string().optional(),
  /**
   * Null if the key was deleted, if the person has left the workspace, or if the credential cannot
   * read the caller.
   */
  caller_name: z.string().nullable().optional(),
  /** `tokens`, `voice_seconds` or `browser_seconds`. */
  metric: z.string().optional(),
  /** Null for runs without tags. */
  tag: z.string().nullable().optional(),
  ...amounts,
});
export type UsageRow = z.infer<typeof usageRow>;

/** Response of `GET /usage`. */
export const usageReport = z.object({
  /** The range of the report: two dates, both inclusive, or two times, `to` exclusive. */
  from: z.string(),
  to: z.string(),
  /** The workspace's time zone, which determines when days and hours begin. */
  time_zone: z.string(),
  /**
   * Time of the workspace's first entry. Earlier usage was not metered. Null without entries. If
   * old entries were deleted after their retention, the beginning of the first day with usage.
   */
  since: z.iso.datetime().nullable(),
  /** Sums over all pages. Each entry counts once, also if it is in the rows of several tags. */
  totals: usageTotals,
  rows: z.array(usageRow),
  /** The value of `after` for the next page; null on the last page. */
  next: z.string().nullable(),
});
export type UsageReport = z.infer<typeof usageReport>;
