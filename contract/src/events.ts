import { z } from "zod";

/**
 * What a model call used, in tokens. `estimated` is set when the provider did not report it (a call cut short, a provider
 * without usage): the numbers are then ours and may be off.
 */
export const tokenUsage = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  /** Part of `input_tokens` that the provider served from its cache. */
  cached_input_tokens: z.number().int().nonnegative(),
  estimated: z.boolean().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsage>;

/** One piece of a model's answer. Provider metadata (a reasoning signature, say) is kept so that the next step can hand it back. */
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
    /** The arguments exactly as the model wrote them: JSON text that need not parse. */
    arguments: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
]);
export type AnswerPart = z.infer<typeof answerPart>;

export const finishReason = z.enum(["stop", "length", "content_filter", "tool_calls", "other"]);
export type FinishReason = z.infer<typeof finishReason>;

/**
 * Error codes that no run ends with yet, part of the contract so that clients can handle them in
 * advance. When a tool fails today, the model is told and the run continues.
 */
export const reservedRunErrorCodes = ["tool_error", "plan_exhausted", "ceiling_reached"] as const;

/** Why a run ended without an answer. Stable: callers branch on these. */
export const runErrorCode = z
  .enum([
    "model_error",
    "model_timeout",
    "tool_error",
    "step_limit",
    "deadline_exceeded",
    "plan_exhausted",
    "ceiling_reached",
    "interrupted",
    "cancelled",
  ])
  .meta({ description: `Reserved, not produced yet: ${reservedRunErrorCodes.join(", ")}.` });
export type RunErrorCode = z.infer<typeof runErrorCode>;

export const runError = z.object({ code: runErrorCode, message: z.string() });
export type RunError = z.infer<typeof runError>;

const none = z.object({});

/**
 * The data of each kind of event in a run's journal. The journal is the run: the conversation the model sees is rebuilt
 * from these, so a change of meaning needs a new event version.
 *
 * `run.tool_call` is an intent: it is durable before the tool is called, and `run.tool_result` answers it by `call_id`.
 */
export const eventData = {
  "run.queued": none,
  /** Reserved: not produced yet. Held: created, and not claimed until it is released. */
  "run.waiting": none,
  "run.started": none,
  "run.resumed": z.object({ attempt: z.number().int().positive() }),
  "run.step": z.object({
    /** Counts from 1 within the run. */
    step: z.number().int().positive(),
    model: z.string(),
    parts: z.array(answerPart),
    finish_reason: finishReason,
    usage: tokenUsage,
    duration_ms: z.number().int().nonnegative(),
    /** Calls that failed and were repeated before this one answered. */
    retries: z.number().int().nonnegative(),
  }),
  "run.step_lost": z.object({
    step: z.number().int().positive(),
    model: z.string(),
    usage: tokenUsage,
    reason: z.enum(["process_lost", "cancelled", "deadline_exceeded"]),
  }),
  "run.tool_call": z.object({
    step: z.number().int().positive(),
    call_id: z.string(),
    tool: z.string(),
    arguments: z.unknown(),
    /** Sent with every try of this call by tools that are safe to repeat. */
    idempotency_key: z.string(),
  }),
  "run.tool_result": z.object({
    step: z.number().int().positive(),
    call_id: z.string(),
    tool: z.string(),
    /** `refused`: never called (unknown tool, arguments that do not fit). `unknown`: called, and the answer was lost. */
    outcome: z.enum(["ok", "error", "refused", "unknown"]),
    result: z.unknown(),
    duration_ms: z.number().int().nonnegative(),
  }),
  "run.finished": z.object({
    output: z.string(),
    usage: tokenUsage,
    cost_micros: z.number().int().nonnegative().nullable(),
  }),
  "run.failed": z.object({
    error: runError,
    usage: tokenUsage,
    cost_micros: z.number().int().nonnegative().nullable(),
  }),
  "run.cancelled": z.object({
    error: runError,
    usage: tokenUsage,
    cost_micros: z.number().int().nonnegative().nullable(),
  }),
} as const;

/** Kinds of events in a run's journal. */
export type EventType = keyof typeof eventData;

/** Kinds of events that no journal has yet: held runs are a later feature. */
export const reservedEventTypes: readonly EventType[] = ["run.waiting"];

/** An entry of a run's journal before it has a place in it. */
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
 * The data of each kind of workspace event, which belongs to no run. `actor` is who did it, as in the
 * audit: for example `user:usr_…`.
 */
export const workspaceEventData = {
  /**
   * The agent was paused, or is now paused for another reason. Not written for an agent that is
   * imported as paused: nothing has changed for it.
   */
  "agent.paused": z.object({ reason: z.string().nullable(), actor: z.string() }),
  "agent.resumed": z.object({ actor: z.string() }),
} as const;

/** Kinds of workspace events. */
export type WorkspaceEventType = keyof typeof workspaceEventData;

/** A workspace event that has not been written yet. */
export type NewWorkspaceEvent = {
  [T in WorkspaceEventType]: { type: T; data: z.infer<(typeof workspaceEventData)[T]> };
}[WorkspaceEventType];

/** The version of an event that this code writes. */
export const eventVersion = 1;

/**
 * An event as it crosses the wire. `data` over 64 KiB is kept as an artifact and stands here as `{artifact_id, bytes}`, so
 * the wire type leaves `data` open; types we do not know yet must be ignored by clients.
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
