import { z } from "zod";
import { commaList } from "./comma-list.ts";
import { runError, tokenUsage } from "./events.ts";
import { pageQuery } from "./responses.ts";
import { cleanText, isStorableText } from "./text.ts";

/**
 * `queued → running → succeeded | failed | cancelled`; the last three are final. Clients must
 * accept unknown values.
 */
export const runStatus = z.enum(["queued", "running", "succeeded", "failed", "cancelled"]);
export type RunStatus = z.infer<typeof runStatus>;

/** Body of invoke. Unknown fields are ignored. */
export const invokeBody = z.object({
  input: z
    .string({ error: 'must be a string, for example {"input": "Hello"}' })
    .min(1, "must not be empty")
    .refine(isStorableText, "must not contain NUL or a lone surrogate"),
});

/** What started a run. New entry points add values. */
const runSource = z.enum(["invoke", "trigger"]);
export type RunSource = z.infer<typeof runSource>;

const someId = cleanText(100).min(1).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** Filters shared by lists and bulk operations, combined with AND. */
const filters = {
  agent_id: someId,
  trigger_id: someId,
  /** Substring of the error's code or message, case-insensitive. */
  error: cleanText(200).min(1).optional(),
  /** Inclusive. */
  created_after: time,
  /** Exclusive. */
  created_before: time,
};

/** Query of `GET /runs`. */
export const runsQuery = z.strictObject({
  ...pageQuery.shape,
  ...filters,
  status: commaList(runStatus),
  source: commaList(runSource),
});
/** Query of `GET /agents/:agent_id/runs`. */
export const agentRunsQuery = runsQuery.omit({ agent_id: true });

/** Filters of runs, from a query or a body. */
export interface RunFilter {
  readonly agent_id?: string | undefined;
  readonly trigger_id?: string | undefined;
  readonly status?: readonly RunStatus[] | undefined;
  readonly source?: readonly RunSource[] | undefined;
  readonly error?: string | undefined;
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/**
 * Returns the body schema of a bulk operation on runs with one of these statuses: a filter with at
 * least one field, or `all`. `after` continues an earlier call.
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
export const cancelRunsBody = selection(["queued", "running"]);
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
});

/** A run in responses. */
export const run = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_version: z.number().int().positive(),
  status: z.string(),
  source: z.string(),
  trigger_id: z.string().nullable(),
  /** Id of the run that this run retries, with the same payload. */
  retry_of: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
  error: runError.nullable(),
  usage: tokenUsage,
  cost_micros: z.number().int().nonnegative().nullable(),
  /** 1 plus the number of times the run resumed after a process exit; at most `max_attempts`. */
  attempt: z.number().int().positive(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof run>;
