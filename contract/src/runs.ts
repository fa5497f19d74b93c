import { z } from "zod";
import { updateAgentBody } from "./agents.ts";
import { commaList } from "./comma-list.ts";
import { runError, tokenUsage } from "./events.ts";
import { limitReached, limitWaitedFor } from "./limit-reached.ts";
import { pageQuery, runView } from "./responses.ts";
import { cleanText, isStorableText } from "./text.ts";

/**
 * `queued → running → succeeded | failed | cancelled`; the last three are final. `waiting` is a
 * held run: it is queued when its agent is resumed or a limit is reset or raised. Clients must
 * accept unknown values.
 */
export const runStatus = z.enum([
  "waiting",
  "queued",
  "running",
  "succeeded",
  "failed",
  "cancelled",
]);
export type RunStatus = z.infer<typeof runStatus>;

const input = z
  .string({ error: 'must be a string, for example {"input": "Hello"}' })
  .min(1, "must not be empty")
  .refine(isStorableText, "must not contain NUL or a lone surrogate");

/** Body of invoke. Unknown fields are ignored. */
export const invokeBody = z.object({ input });

/**
 * What started a run. `draft` is a run with a configuration that is not saved. Later versions can
 * add values.
 */
const runSource = z.enum(["invoke", "trigger", "draft"]);
export type RunSource = z.infer<typeof runSource>;

/**
 * Returns the schema of a field of a response to which later versions can add values. An enum would
 * make generated clients reject these.
 */
const extensible = (known: z.ZodEnum) =>
  z.string().meta({ "x-extensible-enum": known.options.map(String) });

/**
 * Body of `POST /agents/:agent_id/draft-runs`. `config` is a change of the agent's current version,
 * as in `PATCH /agents/:agent_id`. The tools in it can use secrets that are already stored for the
 * agent, but cannot contain new secrets. `max_concurrent_runs` and `max_queued_runs` are ignored,
 * because these limits apply to all runs of the agent together.
 */
export const draftRunBody = z.strictObject({
  input,
  config: updateAgentBody,
});

/** Text without control characters that is not blank. */
const label = (max: number) =>
  cleanText(max)
    .min(1, "must not be empty")
    .refine((text) => !/\p{Cc}/u.test(text), "must not contain control characters")
    .refine((text) => text === "" || text.trim() !== "", "must not be blank");
/** The caller's own id for a run, for example the id of an order. It need not be unique. */
const externalId = label(255);
export const tag = label(64);

/** The headers with which invoke and fire label a run, after percent-decoding. */
export const runLabels = z.object({
  "beckon-external-id": externalId.optional(),
  "beckon-tags": z
    .array(tag)
    .max(10)
    .refine((tags) => new Set(tags).size === tags.length, "must not have a tag twice")
    .optional(),
});

const someId = cleanText(100).min(1).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** Filters shared by lists and bulk operations, combined with AND. */
const filters = {
  agent_id: someId,
  trigger_id: someId,
  /** The caller's own id of the run. */
  external_id: externalId.optional(),
  /** One of the run's tags. */
  tag: tag.optional(),
  /** Substring of the error's code or message, case-insensitive. */
  error: cleanText(200).min(1).optional(),
  /** Inclusive. */
  created_after: time,
  /** Exclusive. */
  created_before: time,
};

/** Filters of queries. Unlike bodies, queries have lists of values as comma-separated text. */
const queryFilters = { ...filters, status: commaList(runStatus), source: commaList(runSource) };

/** Query of `GET /runs`. */
export const runsQuery = z.strictObject({
  ...pageQuery.shape,
  ...queryFilters,
  /** Substring of the input or the output, case-insensitive. */
  text: cleanText(200).min(1).optional(),
  view: runView,
});
/** Query of `GET /agents/:agent_id/runs`. */
export const agentRunsQuery = runsQuery.omit({ agent_id: true });

/** Query of `GET /runs/stats`. */
export const runStatsQuery = z.strictObject({
  ...queryFilters,
  source: commaList(
    runSource.exclude(["draft"], {
      error: "must be invoke or trigger: draft runs are not counted",
    }),
  ),
  bucket: z.enum(["minute", "hour", "day"]).optional().meta({
    description: "Duration of a bucket. Days are those of the workspace's time zone.",
  }),
  group_by: z.enum(["agent"]).optional(),
});
/** Duration of a bucket of statistics. */
export type StatsBucket = NonNullable<z.infer<typeof runStatsQuery>["bucket"]>;

/** Filters of runs, from a query or a body. */
export interface RunFilter {
  readonly agent_id?: string | undefined;
  readonly trigger_id?: string | undefined;
  readonly external_id?: string | undefined;
  readonly tag?: string | undefined;
  readonly status?: readonly RunStatus[] | undefined;
  readonly source?: readonly RunSource[] | undefined;
  readonly error?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/**
 * Returns the body schema of a bulk operation on runs with one of these statuses. The body has
 * `filter` with at least one field, or `all`. With `after`, which is `next` of the previous
 * response, the operation continues where the previous request stopped.
 */
const selection = <const S extends readonly RunStatus[]>(statuses: S) =>
  z
    .strictObject({
      filter: z
        .strictObject({
          ...filters,
          status: z.array(z.enum(statuses)).min(1).max(5).optional(),
          source: z.array(runSource).min(1).max(5).optional(),
        })
        .refine(
          (filter) => Object.keys(filter).length > 0,
          "must have at least one field; to select all runs, send all: true instead",
        )
        .optional(),
      all: z.literal(true).optional(),
      after: pageQuery.shape.after,
    })
    .refine(({ filter, all }) => (filter === undefined) !== (all === undefined), {
      path: ["filter"],
      error: "is required, or all: true: send exactly one of them",
    });

/** Body of `POST /runs/cancel`. */
export const cancelRunsBody = selection(["waiting", "queued", "running"]);
/** Body of `POST /runs/delete`. */
export const deleteRunsBody = selection(["succeeded", "failed", "cancelled"]);

/**
 * The value of `after` for the request that continues a bulk operation; null if all runs were
 * processed.
 */
const next = z.string().nullable();
/** Response of `POST /runs/cancel`. */
export const cancelledRuns = z.object({ cancelled: z.number().int().nonnegative(), next });
/** Response of `POST /runs/delete`. */
export const deletedRuns = z.object({ deleted: z.number().int().nonnegative(), next });

/**
 * Body of `POST /runs/:run_id/retry`. `current` uses the agent's current version, `original` the
 * version of the retried run.
 */
export const retryRunBody = z.strictObject({
  version: z.enum(["current", "original"]).default("current"),
  /**
   * Replaces the whole input of the retried run, including the prompt prefix of its trigger. If
   * absent, the new run has the same input as the retried run.
   */
  input: input.optional(),
});

/** A run in responses. */
export const run = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_version: z.number().int().positive(),
  status: extensible(runStatus),
  source: extensible(runSource),
  trigger_id: z.string().nullable(),
  /** Id of the run that this run retries; null if it is not a retry. */
  retry_of: z.string().nullable(),
  /**
   * The caller's own id of the run, from the header `beckon-external-id`; null if none was sent.
   */
  external_id: z.string().nullable(),
  /** The run's tags, from the header `beckon-tags`. */
  tags: z.array(z.string()),
  input: z.string(),
  output: z.string().nullable(),
  error: runError.nullable(),
  /**
   * The limit that ended the run with `plan_exhausted` or `ceiling_reached`, or for which it waited
   * until it ended with `deadline_exceeded`; otherwise null.
   */
  limit: limitReached.nullable(),
  /**
   * The limit for which the run waits now, because other runs have reserved the rest of it. Only in
   * the response for a single run, and absent while the run waits for none.
   */
  waiting_for: limitWaitedFor.optional(),
  usage: tokenUsage,
  cost_micros: z.number().int().nonnegative().nullable(),
  /**
   * 1, plus 1 for each time that the run resumed because its process had exited. At most
   * `max_attempts`: a run that exceptionally resumes after its last attempt keeps the number.
   */
  attempt: z.number().int().positive(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof run>;

/**
 * A run in a list. The sizes of `input` and `output`, in bytes of UTF-8, are present only with
 * `view=summary`, which truncates these texts.
 */
export const listedRun = run.extend({
  input_bytes: z.number().int().nonnegative().optional(),
  /** Null while there is no output. */
  output_bytes: z.number().int().nonnegative().nullable().optional(),
});
export type ListedRun = z.infer<typeof listedRun>;

const count = z.number().int().nonnegative();
const countByStatus = {
  waiting: count,
  queued: count,
  running: count,
  succeeded: count,
  failed: count,
  cancelled: count,
} as const satisfies Record<RunStatus, typeof count>;

const runFigures = {
  runs: z.object(countByStatus),
  /**
   * Percentiles of the time from `started_at` to `finished_at`, by nearest rank; null if no run that
   * started has ended.
   */
  duration_ms: z.object({ p50: count.nullable(), p95: count.nullable() }),
  usage: z.object({ input_tokens: count, output_tokens: count }),
  /** Null if the cost of at least one run is unknown. */
  cost_micros: count.nullable(),
};

/** Response of `GET /runs/stats`. */
export const runStats = z.object({
  /** Start of the time range, inclusive. */
  created_after: z.iso.datetime(),
  /** End of the time range, exclusive. */
  created_before: z.iso.datetime(),
  /** The workspace's time zone, which determines when hours and days begin. */
  time_zone: z.string(),
  /** All runs that match the filter together. */
  total: z.object(runFigures),
  /** Without `bucket` and `group_by`, one group with all runs. */
  groups: z.array(
    z.object({
      /** Start of the bucket; null without `bucket`. */
      bucket: z.iso.datetime().nullable(),
      /** Null without `group_by=agent`. */
      agent_id: z.string().nullable(),
      ...runFigures,
    }),
  ),
});
export type RunStats = z.infer<typeof runStats>;
