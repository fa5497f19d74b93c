import { z } from "zod";
import { pageQuery } from "./answers.ts";
import { commaList } from "./comma-list.ts";
import { runError, tokenUsage } from "./events.ts";
import { cleanText, isStorableText } from "./text.ts";

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

const someId = cleanText(100).min(1).optional();
const time = z.iso.datetime({ offset: true }).optional();

/** Filters of runs that a list and a change of many have in common. All that are given must hold. */
const filters = {
  agent_id: someId,
  trigger_id: someId,
  /** Part of the error's code or message, in any case. */
  error: cleanText(200).min(1).optional(),
  /** The first moment. */
  created_after: time,
  /** The moment after the last. */
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

/** What a search looks for, however it was asked. */
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
 * Which runs to change, of those in a state in which they can be: by a filter with at least one member, or all. `after` goes on where an
 * earlier call came to.
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
          "must have at least one member; to select all, send all: true in its place",
        )
        .optional(),
      all: z.literal(true).optional(),
      after: pageQuery.shape.after,
    })
    .refine(({ filter, all }) => (filter === undefined) !== (all === undefined), {
      path: ["filter"],
      error: "or all: true must be given, one of them",
    });

/** Body of `POST /runs/cancel`. */
export const cancelRunsBody = selection(["queued", "running"]);
/** Body of `POST /runs/delete`. */
export const deleteRunsBody = selection(["succeeded", "failed", "cancelled"]);

/** Where a change of many goes on; null: it has come to the last. */
const next = z.string().nullable();
/** What a request to cancel many runs has done. */
export const cancelledRuns = z.object({ cancelled: z.number().int().nonnegative(), next });
/** What a request to delete many runs has done. */
export const deletedRuns = z.object({ deleted: z.number().int().nonnegative(), next });

/** Body of `POST /runs/:run_id/retry`. `current`: on the agent as it is now; `original`: on the version of the run that is retried. */
export const retryRunBody = z.strictObject({
  version: z.enum(["current", "original"]).default("current"),
});

/** A run as responses show it. */
export const run = z.object({
  id: z.string(),
  agent_id: z.string(),
  agent_version: z.number().int().positive(),
  status: z.string(),
  source: z.string(),
  trigger_id: z.string().nullable(),
  /** The run whose payload it was given anew. */
  retry_of: z.string().nullable(),
  input: z.string(),
  output: z.string().nullable(),
  error: runError.nullable(),
  usage: tokenUsage,
  cost_micros: z.number().int().nonnegative().nullable(),
  /** Processes it was given to after a death, plus one; at most `max_attempts`. */
  attempt: z.number().int().positive(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof run>;
