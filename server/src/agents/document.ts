import type { AgentInDocument, ExportedAgent, ModelSettings, ToolGrant } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import { withoutNulls } from "./merge-config.ts";
import { type AgentRow, mapValues, valuesOf } from "./records/index.ts";
import { planSecrets } from "./secrets/index.ts";
import { type PreparedAgent, prepareAgent } from "./write-agent.ts";

/** Null for each model setting that can be unset: `beckon agents apply` keeps what a file omits. */
export const unsetModelSettings = {
  temperature: null,
  max_output_tokens: null,
  reasoning_effort: null,
} satisfies Record<Exclude<keyof ModelSettings, "stream">, null>;

/** Returns the agent as an export contains it, but without triggers. Each secret becomes null. */
export function toDocument({
  config,
  paused_at,
  pause_reason,
}: AgentRow): Omit<ExportedAgent, "triggers"> {
  const { name, model, instructions, description, model_settings, tools, limits, metadata } =
    config;
  return {
    name,
    model,
    instructions,
    description,
    model_settings: { ...unsetModelSettings, ...model_settings },
    tools: mapValues(tools, (value) =>
      typeof value === "string"
        ? value
        : { secret: null, ...(value.prefix === undefined ? {} : { prefix: value.prefix }) },
    ),
    limits,
    metadata,
    paused: paused_at !== null,
    pause_reason,
  };
}

/**
 * Generates what `writeAgents` inserts for an agent from an export, without the database. The
 * agent's triggers are not part of it.
 * @returns `secretsNeeded`: paths of secrets that the export leaves out, for example
 *   `tools.0.headers.authorization`.
 */
export function prepareFromDocument(
  ctx: Pick<Context, "workspaceId" | "cipher">,
  agentId: string,
  given: AgentInDocument,
): { readonly agent: PreparedAgent; readonly secretsNeeded: string[] } {
  const { paused, pause_reason, triggers, ...settings } = given;
  const owner = { workspaceId: ctx.workspaceId, agentId };
  const { tools, write } = planSecrets(ctx.cipher, owner, settings.tools, { tools: [], kept: [] });
  const agent = prepareAgent(ctx, {
    agentId,
    config: { ...settings, model_settings: withoutNulls(settings.model_settings), tools },
    secrets: write,
    pause: paused ? { reason: pause_reason } : undefined,
    action: "agent.import",
    data: { triggers: triggers.length },
  });
  return { agent, secretsNeeded: missingSecretPaths(tools, new Set(write.map(({ id }) => id))) };
}

/** Returns the paths of the secrets in the tools whose ids are not in `given`. */
function missingSecretPaths(tools: readonly ToolGrant[], given: ReadonlySet<string>): string[] {
  return valuesOf(tools)
    .filter(({ value }) => typeof value !== "string" && !given.has(value.secret_id))
    .map(({ location }) => location.path);
}
