import type { Agent, UpdateAgentBody } from "@beckon/client";

/** A tool of an agent, in the form and in the body of a PATCH. It can contain new secrets. */
export type Tool = NonNullable<UpdateAgentBody["tools"]>[number];

/** A tool that calls an HTTP API. */
export type HttpTool = Extract<Tool, { type: "http" }>;

/** Names of the fields of `limits`. */
export const limitNames = [
  "max_steps",
  "timeout_seconds",
  "max_concurrent_runs",
  "max_queued_runs",
  "max_attempts",
  "max_answer_bytes",
  "max_cost_micros",
  "reserve_output_tokens",
] as const satisfies readonly (keyof Agent["limits"])[];

const modelSettingNames = ["temperature", "max_output_tokens", "reasoning_effort"] as const;

/**
 * The settings of an agent that can be changed. They are flat, so that two people who change
 * different limits or model options do not cause a conflict. null means the provider's default, or
 * no limit.
 */
export interface AgentFields {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly model: string;
  readonly temperature: number | null;
  readonly max_output_tokens: number | null;
  readonly reasoning_effort: Agent["model_settings"]["reasoning_effort"] | null;
  readonly stream: Agent["model_settings"]["stream"];
  readonly tools: readonly Tool[];
  readonly max_steps: number;
  readonly timeout_seconds: number;
  readonly max_concurrent_runs: number | null;
  readonly max_queued_runs: number;
  readonly max_attempts: number;
  readonly max_answer_bytes: number;
  readonly max_cost_micros: number | null;
  readonly reserve_output_tokens: number;
  readonly metadata: Agent["metadata"];
}

/** The settings in a version of the agent. */
export interface VersionedFields extends AgentFields {
  readonly version: number;
}

/** Returns the settings of an agent that was read from the server. */
export function fieldsOf(agent: Agent): VersionedFields {
  const { name, description, instructions, model, model_settings, tools, limits, metadata } = agent;
  return {
    version: agent.version,
    name,
    description,
    instructions,
    model,
    temperature: model_settings.temperature ?? null,
    max_output_tokens: model_settings.max_output_tokens ?? null,
    reasoning_effort: model_settings.reasoning_effort ?? null,
    stream: model_settings.stream,
    tools,
    ...limits,
    metadata,
  };
}

/**
 * Returns the body of a PATCH, or the `config` of a draft run, that contains only these changes.
 */
export function bodyOf(changes: Partial<AgentFields>): UpdateAgentBody {
  const { name, description, instructions, model, tools, metadata } = changes;
  const modelSettings = pick(changes, [...modelSettingNames, "stream"]);
  const limits = pick(changes, limitNames);
  return withoutUndefined({
    name,
    description,
    instructions,
    model,
    tools,
    metadata,
    model_settings: Object.keys(modelSettings).length > 0 ? modelSettings : undefined,
    limits: Object.keys(limits).length > 0 ? limits : undefined,
  }) as UpdateAgentBody;
}

/**
 * Returns the form field to which a JSON path in the request's body belongs, for example `tools`
 * for the path `["tools", 0, "name"]`; undefined if there is none.
 */
export function fieldAt(path: readonly PropertyKey[]): keyof AgentFields | undefined {
  const [first, second] = path;
  const name = first === "limits" || first === "model_settings" ? second : first;
  return name !== undefined && Object.hasOwn(labels, name)
    ? (name as keyof AgentFields)
    : undefined;
}

/** Names of the fields as the form shows them. */
export const labels: Readonly<Record<keyof AgentFields, string>> = {
  name: "Name",
  description: "Description",
  instructions: "Instructions",
  model: "Model",
  temperature: "Temperature",
  max_output_tokens: "Maximum output",
  reasoning_effort: "Reasoning effort",
  stream: "Streaming",
  tools: "Tools",
  max_steps: "Steps",
  timeout_seconds: "Time limit",
  max_concurrent_runs: "Runs at the same time",
  max_queued_runs: "Queued runs",
  max_attempts: "Attempts",
  max_answer_bytes: "Size of a model response",
  max_cost_micros: "Cost of a run",
  reserve_output_tokens: "Reserved output",
  metadata: "Metadata",
};

function pick(fields: Partial<AgentFields>, names: readonly (keyof AgentFields)[]): object {
  return withoutUndefined(Object.fromEntries(names.map((name) => [name, fields[name]])));
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
