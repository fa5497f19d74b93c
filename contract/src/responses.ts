import { z } from "zod";
import { runErrorCode } from "./events.ts";
import { limitReached } from "./limit-reached.ts";

/** Every `code` of an error response, except those of failed runs (`runErrorCode`). */
export const errorCode = z.enum([
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "misdirected",
  "agent_paused",
  "trigger_disabled",
  "conflict",
  "stale",
  "too_large",
  "unsupported_type",
  "idempotency_mismatch",
  "agent_busy",
  "too_many_requests",
  "secret_unreadable",
  "internal_error",
  "unavailable",
]);
export type ErrorCode = z.infer<typeof errorCode>;

/** Body of every error response. */
export const errorResponse = z.object({
  ok: z.literal(false),
  error: z.string(),
  code: z.union([errorCode, runErrorCode]),
  run_id: z.string().optional(),
  /**
   * The limit that was reached, if the code is `plan_exhausted` or `ceiling_reached`, or if it is
   * `agent_paused` because of a limit. If the code is `deadline_exceeded`, the limit for which the
   * run waited.
   */
  limit: limitReached.optional(),
});
export type ErrorResponse = z.infer<typeof errorResponse>;

/** Response of invoke after the run has succeeded. */
export const invokeResponse = z.object({
  ok: z.literal(true),
  run_id: z.string(),
  output: z.string(),
});

/** Response of fire, the request to a trigger. It is sent as soon as the run is durable. */
export const fireResponse = z.object({ ok: z.literal(true), run_id: z.string() });

/**
 * Response 202 of fire: the request was accepted, but the trigger's settings, for example a filter,
 * say that it starts no run.
 */
export const skippedResponse = z.object({ ok: z.literal(true), skipped: z.literal(true) });

/** Body of a POST without parameters: absent, or an empty object. */
export const emptyBody = z.strictObject({});

/**
 * `?limit=&after=` of every list. `limit` is 1 to 200 rows, 50 by default; `after` is the `next` of
 * the previous page. Unknown parameters are rejected, because a mistyped filter that is ignored
 * would look as if it had been applied.
 */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50).meta({
    description: "Maximum number of items of a page.",
  }),
  after: z.string().max(2_000).optional(),
});
export type PageQuery = z.infer<typeof pageQuery>;

/** A query parameter that is true or false. */
export const yesOrNo = z.enum(["true", "false"]);

const view = z.enum(["full", "summary"]).default("full");
/** The parameter `view` of lists of runs. */
export const runView = view.meta({
  description: "`summary`: `input` and `output` have at most 200 characters.",
});
/** The parameter `view` of the list of agents. */
export const agentView = view.meta({
  description: "`summary`: `instructions`, `tools` and `metadata` are empty.",
});
/** The parameter `view` of pages and streams of events. */
export const eventView = view.meta({
  description: "`summary`: events without texts, arguments and results.",
});
/** `full` returns whole texts, `summary` truncates them or leaves them out. */
export type View = z.infer<typeof view>;

/**
 * Query of a run's events. `after` is the last `seq` that the client has; 0 means from the start.
 */
export const eventsQuery = z.strictObject({
  limit: pageQuery.shape.limit,
  after: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  view: eventView,
});
