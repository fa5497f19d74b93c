import { z } from "zod";
import { limitReached, usageThreshold } from "./limit-reached.ts";

/**
 * Token usage of model calls. `estimated` is true if Beckon estimated at least one of the numbers,
 * because the provider reported no number, for example after an abort, or an impossible one.
 */
export const tokenUsage = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  /** Part of `input_tokens` that the provider served from its cache. */
  cached_input_tokens: z.number().int().nonnegative(),
  /** Part of `input_tokens` that the provider wrote to its cache. Absent if it is 0. */
  cache_write_tokens: z.number().int().positive().optional(),
  /** Part of `output_tokens` that the model used for reasoning. Absent if it is 0. */
  reasoning_tokens: z.number().int().positive().optional(),
  estimated: z.boolean().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsage>;

/**
 * One part of a model's response. `provider_metadata`, for example a reasoning signature, is stored
 * because the run's next model call must send it back to the provider.
 */
export const answerPart = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("text"),
    text: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
  z.object({
    type: z.literal("reasoning"),
    text: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
  z.object({
    type: z.literal("tool_call"),
    call_id: z.string(),
    tool: z.string(),
    /** The arguments exactly as the model wrote them. They should be JSON, but can be invalid. */
    arguments: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
]);
export type AnswerPart = z.infer<typeof answerPart>;

export const finishReason = z.enum(["stop", "length", "content_filter", "tool_calls", "other"]);
export type FinishReason = z.infer<typeof finishReason>;

/**
 * Error codes that no run ends with yet. They are in the contract so that clients can handle them
 * in advance. For example, a failed tool call does not end a run with `tool_error` today: it is
 * reported to the model, and the run continues.
 */
export const reservedRunErrorCodes = ["tool_error"] as const;

/** Why a run ended without output. The codes do not change, because clients branch on them. */
export const runErrorCode = z
  .enum([
    "model_error",
    "model_timeout",
    "tool_error",
    "step_limit",
    "deadline_exceeded",
    "plan_exhausted",
    "ceiling_reached",
    "price_unknown",
    "mapping_error",
    "interrupted",
    "cancelled",
  ])
  .meta({ description: `Reserved, not produced yet: ${reservedRunErrorCodes.join(", ")}.` });
export type RunErrorCode = z.infer<typeof runErrorCode>;

/** When a run ends with each of the error codes. */
export const runErrorMeanings: Readonly<Record<RunErrorCode, string>> = {
  model_error:
    "the model's provider failed or rejected the request, its answer is truncated, filtered or unusable, there is not enough memory for the run, or the model cannot be called, for example because its provider was deleted",
  model_timeout: "the model took too long",
  tool_error: "a tool failed permanently",
  step_limit: "the run reached its limit of steps",
  deadline_exceeded: "the run reached its limit of time, or was queued for 24 hours",
  plan_exhausted: "the allowance of the workspace's plan is used up: see `limit` and Retry-After",
  ceiling_reached: "a ceiling of cost is reached: see `limit` and Retry-After",
  price_unknown: "a limit in money applies, and the model has no known price",
  mapping_error: "the filter or the message template of the trigger failed with this request",
  interrupted:
    "the run lost its process too often, Beckon failed because of an internal error, or Beckon was restored from a backup",
  cancelled: "the run was cancelled, or was held for 7 days",
};

export const runError = z.object({ code: runErrorCode, message: z.string() });
export type RunError = z.infer<typeof runError>;

const none = z.object({});

/** Cost in millionths of a dollar; null if at least one call that used tokens has no price. */
const costMicros = z.number().int().nonnegative().nullable();

/**
 * The `data` of each event type of a run's journal. The conversation with the model is rebuilt from
 * these events, so a change in the meaning of an event needs a new event version.
 *
 * `run.tool_call` is stored durably before the tool is called. The `run.tool_result` with the same
 * `call_id` follows it. Exception: a stopping process releases a run with a call that is safe to
 * repeat, and the run ends before another process claims it, for example because it is cancelled.
 * It is then unknown whether the tool was called.
 */
export const eventData = {
  "run.queued": z.object({
    /**
     * Set if a process that was shutting down put the run back into the queue, or if the run was
     * held after a process had begun to execute it, and earlier events report all model calls that
     * this process sent. If it is absent, a call may be missing from
     * the events, and the process that resumes the run can estimate its usage. Earlier versions of
     * Beckon do not set it.
     */
    calls_reported: z.literal(true).optional(),
  }),
  /**
   * The run is held, because its agent is paused or a limit is spent. `run.queued` follows when the
   * run is released. A run can also be held after `run.started` or `run.resumed`, before its first
   * model call, for example because other runs have reserved the rest of a limit for too long.
   */
  "run.waiting": none,
  "run.started": none,
  "run.resumed": z.object({ attempt: z.number().int().positive() }),
  "run.step": z.object({
    /** Counts from 1 within the run. */
    step: z.number().int().positive(),
    model: z.string(),
    parts: z.array(answerPart),
    finish_reason: finishReason,
    /** Usage of all attempts of the model call, including failed ones. */
    usage: tokenUsage,
    /** Cost of all attempts. Absent in events that were written before Beckon computed costs. */
    cost_micros: costMicros.optional(),
    duration_ms: z.number().int().nonnegative(),
    /** Failed model calls before the successful one. */
    retries: z.number().int().nonnegative(),
  }),
  "run.step_lost": z.object({
    step: z.number().int().positive(),
    model: z.string(),
    usage: tokenUsage,
    /** Cost of the call. Absent in events that were written before Beckon computed costs. */
    cost_micros: costMicros.optional(),
    reason: z.enum(["process_lost", "cancelled", "deadline_exceeded"]),
  }),
  "run.tool_call": z.object({
    step: z.number().int().positive(),
    call_id: z.string(),
    tool: z.string(),
    arguments: z.unknown(),
    /** Sent with every attempt of this call if the operation has an `idempotency_header`. */
    idempotency_key: z.string(),
  }),
  "run.tool_result": z.object({
    step: z.number().int().positive(),
    call_id: z.string(),
    tool: z.string(),
    /**
     * `refused` means that the tool was not called, because it is unknown, its arguments are
     * invalid, a maximum number of calls was reached, or the run was stopped first. `unknown` means
     * that the tool may have been called, but its response was lost.
     */
    outcome: z.enum(["ok", "error", "refused", "unknown"]),
    result: z.unknown(),
    duration_ms: z.number().int().nonnegative(),
  }),
  "run.finished": z.object({
    /**
     * The text of the model's last response. If that is blank, the last text of an earlier step
     * that is not blank.
     */
    output: z.string(),
    usage: tokenUsage,
    cost_micros: costMicros,
  }),
  "run.failed": z.object({
    error: runError,
    /**
     * The limit because of which the run failed with `plan_exhausted` or `ceiling_reached`, or for
     * which it waited until it failed with `deadline_exceeded`.
     */
    limit: limitReached.optional(),
    usage: tokenUsage,
    cost_micros: costMicros,
  }),
  "run.cancelled": z.object({
    error: runError,
    usage: tokenUsage,
    cost_micros: costMicros,
  }),
} as const;

/** Event types of a run's journal. */
export type EventType = keyof typeof eventData;

/** An entry of a run's journal that has not been written yet: only its type and data. */
export type NewEvent = {
  [T in EventType]: { type: T; data: z.infer<(typeof eventData)[T]> };
}[EventType];

/** An entry of a run's journal. `seq` counts from 1 within the run, without gaps. */
export type RunEvent = NewEvent & {
  id: string;
  run_id: string;
  seq: number;
  version: number;
  time: string;
};

/**
 * Why a subscription was disabled. `failing`: every attempt failed for 5 days. `gone`: the receiver
 * responded with status 410. `backlog`: more than 100,000 deliveries of events were pending.
 */
export const disabledReason = z.enum(["failing", "gone", "backlog"]);
export type DisabledReason = z.infer<typeof disabledReason>;

/**
 * The `data` of each type of workspace event. Workspace events belong to no run. `actor` is written
 * as in the audit log, for example `user:usr_…`.
 */
export const workspaceEventData = {
  /**
   * The agent was paused, or the reason of its pause changed; `reason` is null if none was given.
   * Not written for an agent that is imported as paused.
   */
  "agent.paused": z.object({ reason: z.string().nullable(), actor: z.string() }),
  "agent.resumed": z.object({ actor: z.string() }),
  /**
   * The usage has reached 50, 80 or 100 percent of a limit. Written once per period and percentage,
   * and again after a raise of the limit. The event itself has an `agent_id` if the limit is a
   * ceiling of an agent.
   */
  "usage.threshold": usageThreshold,
  /** Beckon disabled a subscription. Until it is enabled, its deliveries are not sent. */
  "subscription.disabled": z.object({
    subscription_id: z.string(),
    url: z.string(),
    reason: disabledReason,
  }),
} as const;

/** Types of workspace events. */
export type WorkspaceEventType = keyof typeof workspaceEventData;

/** A workspace event that has not been written yet. */
export type NewWorkspaceEvent = {
  [T in WorkspaceEventType]: { type: T; data: z.infer<(typeof workspaceEventData)[T]> };
}[WorkspaceEventType];

/** Version of the events that this code writes. */
export const eventVersion = 1;

/**
 * An event in responses. `data` can have any fields, because in `data` above 64 KiB, `artifact_id`
 * and `bytes` replace the fields that models and tools wrote: `parts`, `arguments`, `result` or
 * `output`. If the other fields together are large, or if an earlier version of Beckon wrote the
 * event, they replace all fields. `readEventData` has the fields of each type. Clients must ignore
 * unknown event types.
 */
export const eventOnWire = z.object({
  id: z.string(),
  run_id: z.string(),
  seq: z.number().int().positive(),
  type: z.string(),
  version: z.number().int().positive(),
  time: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});
export type EventOnWire = z.infer<typeof eventOnWire>;
