import { z } from "zod";
import { graceSeconds } from "./grace-seconds.ts";
import { maxLimitMicros } from "./limits.ts";
import { agentView, pageQuery, yesOrNo } from "./responses.ts";
import { cleanText, metadata, name } from "./text.ts";
import { toolGrant, toolsBody } from "./tools.ts";

const wholeNumber = ({ min, max }: { min: number; max: number }) =>
  z.number().int().min(min).max(max);

/** Range of `max_output_tokens`. */
export const maxOutputTokensRange = { min: 1, max: 1_000_000 };

/** Options of model calls. The provider's default applies to each one that is not set. */
export const modelSettings = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  max_output_tokens: wholeNumber(maxOutputTokensRange)
    .meta({
      description:
        "Maximum output tokens of a model call. If it is set, an answer that is truncated there is accepted, unless it has tool calls or no text. If not, the provider's limit or `limits.reserve_output_tokens` applies, and a truncated answer fails the run with `model_error`.",
    })
    .optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  // `auto` does not stream other responses, because parsing a stream takes several times the CPU of
  // parsing one JSON body.
  stream: z
    .enum(["auto", "always", "never"])
    .meta({
      description:
        "`auto` streams the model's response if the run has subscribers, or if the response could take minutes: `max_output_tokens` is above 8,192, or `reasoning_effort` is `medium` or higher, or if a call of the model ended in the last hour because its answer took too long for a gateway.",
    })
    .default("auto"),
});
export type ModelSettings = z.infer<typeof modelSettings>;

/**
 * Default of `max_answer_bytes`: 4 MiB. It also applies to agent versions stored before this limit
 * existed.
 */
export const defaultMaxAnswerBytes = 4 * 1024 * 1024;

/**
 * Default of `reserve_output_tokens`. It also applies to agent versions stored before the setting
 * existed.
 */
export const defaultReserveOutputTokens = 16_384;

/** Ranges of the limits of an agent. */
export const limitRanges = {
  max_steps: { min: 1, max: 1_000 },
  timeout_seconds: { min: 1, max: 86_400 },
  max_concurrent_runs: { min: 1, max: 100_000 },
  // 0 is not allowed: with `max_concurrent_runs`, every run is queued before it is executed, so a
  // maximum of 0 would reject all runs.
  max_queued_runs: { min: 1, max: 10_000_000 },
  max_attempts: { min: 1, max: 100 },
  max_answer_bytes: { min: 1_024, max: 32 * 1024 * 1024 },
  max_cost_micros: { min: 0, max: maxLimitMicros },
  reserve_output_tokens: { min: 256, max: 1_000_000 },
};

const limits = z.strictObject({
  max_steps: wholeNumber(limitRanges.max_steps)
    .meta({
      description:
        "Maximum number of steps of a run. A step is one model call and the tool calls that its answer requests. If the last step requests tool calls, they are not made, and the run fails with `step_limit`.",
    })
    .default(20),
  timeout_seconds: wholeNumber(limitRanges.timeout_seconds)
    .meta({
      description:
        "Maximum seconds from the first start of a run to its end. A run that takes longer fails with `deadline_exceeded`. Two waits do not count: after the exit of the run's process, until another process resumes the run, and in the queue after a process that shuts down has released the run.",
    })
    .default(600),
  max_concurrent_runs: wholeNumber(limitRanges.max_concurrent_runs)
    .nullable()
    .meta({
      description:
        "Maximum number of runs of the agent that are executed at the same time; null means no limit. Further runs are queued.",
    })
    .default(null),
  max_queued_runs: wholeNumber(limitRanges.max_queued_runs)
    .meta({
      description:
        "Maximum number of queued runs of the agent. Further starts are rejected with 429 `agent_busy`.",
    })
    .default(10_000),
  // Exception for values above 1: if several runs of the process were on their last attempt, it is
  // not known which of them caused the exit, so each gets another attempt
  // (docs/decisions/0015-last-attempts-in-halves.md).
  max_attempts: wholeNumber(limitRanges.max_attempts)
    .meta({
      description:
        "Maximum number of attempts of a run. If a process exits while it executes the run, another process resumes the run in a new attempt. If it exits during the last attempt, the run fails with `interrupted`, unless other runs on their last attempt can be the cause.",
    })
    .default(3),
  max_answer_bytes: wholeNumber(limitRanges.max_answer_bytes)
    .meta({
      description:
        "Maximum bytes of one model response. Of a streamed response, this is the maximum of its content; the whole stream can have 8 times as many bytes. A longer response fails the run with `model_error`.",
    })
    .default(defaultMaxAnswerBytes),
  max_cost_micros: wholeNumber(limitRanges.max_cost_micros)
    .nullable()
    .meta({
      description:
        "Maximum cost of one run in micro-dollars; null means no limit. The maximum output tokens of a model call are lowered so that the call cannot exceed it. The run fails with `ceiling_reached` if too few tokens are left for a useful call, or if the lowered maximum truncates an answer.",
    })
    .default(null),
  reserve_output_tokens: wholeNumber(limitRanges.reserve_output_tokens)
    .meta({
      description:
        "Maximum output tokens of a model call, and the number of tokens whose cost is reserved before it. It applies if `max_output_tokens` is not set, and the run has a limit (a ceiling, an allowance of cost or tokens, or `max_cost_micros`) or the model is of another server with Anthropic's API. An answer that is truncated there fails the run with `model_error`.",
    })
    .default(defaultReserveOutputTokens),
});
export type Limits = z.infer<typeof limits>;

/**
 * `provider/model`: the provider's name in the workspace, and the name that the provider itself
 * uses for the model.
 */
export const modelName = cleanText(300)
  .min(3)
  .regex(/^[^/\s]+\/\S+$/, "must be provider/model, for example demo/echo");

/** Maximum length of the instructions, in UTF-16 code units. */
export const maxInstructionsCharacters = 200_000;

const fields = {
  name,
  description: cleanText(2_000),
  instructions: cleanText(maxInstructionsCharacters),
  model: modelName,
  model_settings: modelSettings,
  tools: toolsBody,
  limits,
  metadata,
};

/** Body of `POST /agents`. */
export const createAgentBody = z.strictObject({
  name: fields.name,
  model: fields.model,
  instructions: fields.instructions.default(""),
  description: fields.description.default(""),
  model_settings: fields.model_settings.prefault({}),
  tools: fields.tools.default([]),
  limits: fields.limits.prefault({}),
  metadata: fields.metadata.default({}),
});

/**
 * Body of `PATCH /agents/:agent_id`. A field that is present replaces the old value as a whole;
 * `model_settings` and `limits` are merged field by field. In `model_settings`, null removes a
 * value.
 */
export const updateAgentBody = z.strictObject({
  name: fields.name.optional(),
  model: fields.model.optional(),
  instructions: fields.instructions.optional(),
  description: fields.description.optional(),
  model_settings: z
    .strictObject({
      temperature: modelSettings.shape.temperature.unwrap().nullable(),
      max_output_tokens: modelSettings.shape.max_output_tokens.unwrap().nullable(),
      reasoning_effort: modelSettings.shape.reasoning_effort.unwrap().nullable(),
      stream: modelSettings.shape.stream.unwrap(),
    })
    .partial()
    .optional(),
  tools: fields.tools.optional(),
  limits: z
    .strictObject({
      max_steps: limits.shape.max_steps.unwrap(),
      timeout_seconds: limits.shape.timeout_seconds.unwrap(),
      max_concurrent_runs: limits.shape.max_concurrent_runs.unwrap(),
      max_queued_runs: limits.shape.max_queued_runs.unwrap(),
      max_attempts: limits.shape.max_attempts.unwrap(),
      max_answer_bytes: limits.shape.max_answer_bytes.unwrap(),
      max_cost_micros: limits.shape.max_cost_micros.unwrap(),
      reserve_output_tokens: limits.shape.reserve_output_tokens.unwrap(),
    })
    .partial()
    .optional(),
  metadata: fields.metadata.optional(),
});
export type UpdateAgentBody = z.infer<typeof updateAgentBody>;

/** The configuration stored in an agent's version. Immutable; each run uses exactly one version. */
export const agentConfig = z.object({
  name: z.string(),
  description: z.string(),
  instructions: z.string(),
  model: z.string(),
  model_settings: modelSettings,
  tools: z.array(toolGrant),
  limits,
  metadata,
});
export type AgentConfig = z.infer<typeof agentConfig>;

/** An agent in responses. The agent's token is only in responses that issue or reveal it. */
export const agent = agentConfig.extend({
  id: z.string(),
  version: z.number().int().positive(),
  provider_id: z.string().nullable().meta({
    description:
      "Id of the workspace's provider that the current version uses; null if the model is built in or of an operator's provider. The provider stays the same until the agent is changed.",
  }),
  paused: z.boolean(),
  /**
   * `member`: it was paused with `POST /agents/:agent_id/pause`. `limit`: a ceiling that pauses the
   * agent is reached; the agent resumes when the ceiling resets or is raised. Null: not paused.
   */
  paused_by: z.enum(["member", "limit"]).nullable(),
  pause_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** Only in the list of deleted agents. */
  deleted_at: z.iso.datetime().optional(),
  /**
   * Only in the list of deleted agents: the time after which the agent can no longer be restored,
   * 30 days after its deletion.
   */
  restorable_until: z.iso.datetime().optional(),
});
export type Agent = z.infer<typeof agent>;

/** Query of `GET /agents`. Filters are combined with AND. */
export const agentsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Substring of the name or the description, case-insensitive. */
  search: cleanText(200).min(1).optional(),
  paused: yesOrNo.optional(),
  /** `provider/model`, exact match. */
  model: cleanText(300).min(1).optional(),
  /**
   * `true` lists the deleted agents that can still be restored. Otherwise the agents that are not
   * deleted are listed.
   */
  deleted: yesOrNo.optional(),
  view: agentView,
});
/** Filters of a list of agents. */
export type AgentFilter = Omit<z.infer<typeof agentsQuery>, "limit" | "after" | "view">;

/** Body of `POST /agents/:agent_id/duplicate`. */
export const duplicateAgentBody = z.strictObject({ name: fields.name.optional() });

/** A version without its configuration. `created_by` is an actor, for example `key:key_…`. */
export const agentVersionEntry = z.object({
  version: z.number().int().positive(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
});
export type AgentVersionEntry = z.infer<typeof agentVersionEntry>;

/** An immutable version of an agent. */
export const agentVersion = agentVersionEntry.extend({
  agent_id: z.string(),
  ...agentConfig.shape,
  provider_id: z.string().nullable().meta({
    description:
      "Id of the workspace's provider that the version uses; null if the model is built in or of an operator's provider. The provider can have been deleted since.",
  }),
});
export type AgentVersion = z.infer<typeof agentVersion>;

/**
 * Query of `GET …/versions/:version/compare`. `with` is the version with which `:version` is
 * compared; by default the agent's current version.
 */
export const compareQuery = z.strictObject({
  with: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
});

/**
 * Differences between two versions. `path` is a JSON Pointer (RFC 6901), `before` the value at this
 * path in version `from`, and `after` the value in version `to`. `before` or `after` is absent if
 * that version has no such value. `/provider_id` is one of the paths, because the same model can
 * belong to another provider than before. Tools and their functions are compared by name, unless
 * their order has changed. The indexes in `path` are those of version `to`, but the last index of
 * one that was removed is that of version `from`.
 */
export const versionComparison = z.object({
  from: z.number().int(),
  to: z.number().int(),
  changes: z.array(
    z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }),
  ),
});
export type VersionComparison = z.infer<typeof versionComparison>;

/** Body of `POST /agents/:agent_id/pause`. */
export const pauseAgentBody = z.strictObject({ reason: cleanText(500).optional() });

/**
 * Body of the requests that rotate the token of an agent or trigger. The old secret stays valid for
 * `grace_seconds`: 0 to 604,800 (a week).
 */
export const rotateBody = z.strictObject({ grace_seconds: graceSeconds.default(0) });
