import { z } from "zod";
import { pageQuery } from "./answers.ts";
import { cleanText, metadata, name } from "./text.ts";
import { toolGrant, toolsBody } from "./tools.ts";

/** How the model is called. Everything unset is left to the provider. */
export const modelSettings = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  /** Tokens, 1 to 1,000,000. */
  max_output_tokens: z.number().int().min(1).max(1_000_000).optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).optional(),
  /** `auto`: streamed when someone watches or the answer may be long. Parsing a stream costs several times the CPU of one JSON body. */
  stream: z.enum(["auto", "always", "never"]).default("auto"),
});
export type ModelSettings = z.infer<typeof modelSettings>;

/** The most processes that a run's agent can let it lose. */
export const maxAttemptsLimit = 100;

/** Of an agent that does not say otherwise, and of versions from before there was this limit. */
export const defaultMaxAnswerBytes = 4 * 1024 * 1024;

const limits = z.strictObject({
  /** Model calls in one run, 1 to 1,000. */
  max_steps: z.number().int().min(1).max(1_000).default(20),
  /**
   * Seconds from a run's first start, across failovers, 1 to 86,400. Waiting for a failover does
   * not count.
   */
  timeout_seconds: z.number().int().min(1).max(86_400).default(600),
  /** Runs executing at once; null: no limit. Limits execution, never acceptance. */
  max_concurrent_runs: z.number().int().min(1).max(100_000).nullable().default(null),
  /** Runs waiting; one more is refused with `agent_busy`. 1 to 10,000,000: with a limit of concurrency every run begins in the queue. */
  max_queued_runs: z.number().int().min(1).max(10_000_000).default(10_000),
  /**
   * Processes a run may lose before it ends `interrupted`, 1 to 100. On the last one, with a limit
   * above 1, it must have been alone: see docs/decisions/0015-last-attempts-in-halves.md.
   */
  max_attempts: z.number().int().min(1).max(maxAttemptsLimit).default(3),
  /**
   * Bytes of one model answer, 1,024 to 33,554,432 (32 MiB): of a plain answer its body, of a
   * streamed one its text without framing. A longer answer fails the run with `model_error`.
   */
  max_answer_bytes: z
    .number()
    .int()
    .min(1_024)
    .max(32 * 1024 * 1024)
    .default(defaultMaxAnswerBytes),
});
export type Limits = z.infer<typeof limits>;

/** `provider/model`: the provider's name in the workspace, a slash, the model's name at that provider. */
const modelName = cleanText(300)
  .min(3)
  .regex(/^[^/\s]+\/\S+$/, "must be provider/model, for example demo/echo");

const members = {
  name,
  description: cleanText(2_000),
  instructions: cleanText(200_000),
  model: modelName,
  model_settings: modelSettings,
  tools: toolsBody,
  limits,
  metadata,
};

/** Body of `POST /agents`. */
export const createAgentBody = z.strictObject({
  name: members.name,
  model: members.model,
  instructions: members.instructions.default(""),
  description: members.description.default(""),
  model_settings: members.model_settings.prefault({}),
  tools: members.tools.default([]),
  limits: members.limits.prefault({}),
  metadata: members.metadata.default({}),
});

/** Body of `PATCH /agents/:agent_id`: a member that is present replaces the old value whole; settings and limits member by member. */
export const updateAgentBody = z.strictObject({
  name: members.name.optional(),
  model: members.model.optional(),
  instructions: members.instructions.optional(),
  description: members.description.optional(),
  model_settings: z
    .strictObject({
      temperature: modelSettings.shape.temperature.unwrap().nullable(),
      max_output_tokens: modelSettings.shape.max_output_tokens.unwrap().nullable(),
      reasoning_effort: modelSettings.shape.reasoning_effort.unwrap().nullable(),
      stream: modelSettings.shape.stream.unwrap(),
    })
    .partial()
    .optional(),
  tools: members.tools.optional(),
  limits: z
    .strictObject({
      max_steps: limits.shape.max_steps.unwrap(),
      timeout_seconds: limits.shape.timeout_seconds.unwrap(),
      max_concurrent_runs: limits.shape.max_concurrent_runs.unwrap(),
      max_queued_runs: limits.shape.max_queued_runs.unwrap(),
      max_attempts: limits.shape.max_attempts.unwrap(),
      max_answer_bytes: limits.shape.max_answer_bytes.unwrap(),
    })
    .partial()
    .optional(),
  metadata: members.metadata.optional(),
});
export type UpdateAgentBody = z.infer<typeof updateAgentBody>;

/** What an agent's version holds: the whole configuration, immutable once written. A run pins one version. */
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

/** An agent as responses show it. Its token is only in the response that issues it. */
export const agent = agentConfig.extend({
  id: z.string(),
  version: z.number().int().positive(),
  paused: z.boolean(),
  pause_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** In the list of deleted agents only. */
  deleted_at: z.iso.datetime().optional(),
  /** Until when a deleted agent can be brought back: 30 days. */
  restorable_until: z.iso.datetime().optional(),
});
export type Agent = z.infer<typeof agent>;

const yesOrNo = z.enum(["true", "false"]);

/** Query of `GET /agents`. All filters that are given apply. */
export const agentsQuery = z.strictObject({
  ...pageQuery.shape,
  /** Part of the name or the description, in any case. */
  search: cleanText(200).min(1).optional(),
  paused: yesOrNo.optional(),
  /** `provider/model`, whole. */
  model: cleanText(300).min(1).optional(),
  /** true: the deleted ones that can be brought back, in place of the living. */
  deleted: yesOrNo.optional(),
});
/** Filters of a list of agents. */
export type AgentFilter = Omit<z.infer<typeof agentsQuery>, "limit" | "after">;

/** Body of `POST /agents/:agent_id/duplicate`. */
export const duplicateAgentBody = z.strictObject({ name: members.name.optional() });

/** A version without what it holds: when it was written, and by whom, for example `key:key_…`. */
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
});
export type AgentVersion = z.infer<typeof agentVersion>;

/** Query of `GET …/versions/:version/compare`. Without `with`: the current version. */
export const compareQuery = z.strictObject({
  with: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
});

/** What is different in version `to`: each place by its JSON Pointer. What is not there at all is absent, not null. */
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

/** Seconds that the token replaced by a rotation goes on working: 0 to 604,800 (a week). */
export const rotateBody = z.strictObject({
  grace_seconds: z.number().int().min(0).max(604_800).default(0),
});
