import type { AgentInDocument, ExportedAgent, ModelSettings } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { resolveModel } from "../providers/index.ts";
import { withoutNulls } from "./merge-config.ts";
import type { AgentRow } from "./records/index.ts";
import { mapValues, type showSecrets } from "./records/index.ts";
import { planSecrets } from "./secrets/index.ts";
import { writeAgent } from "./write-agent.ts";

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
    tools: tools.map((grant, index) =>
      grant.type !== "http"
        ? grant
        : mapValues(grant, index, (value) =>
            typeof value === "string"
              ? value
              : { secret: null, ...(value.prefix === undefined ? {} : { prefix: value.prefix }) },
          ),
    ),
    limits,
    metadata,
    paused: paused_at !== null,
    pause_reason,
  };
}

/**
 * Adds an agent from an export, without its triggers, in the caller's transaction. The caller must
 * have checked permissions.
 * @returns The agent's token, and the paths of secrets that the export leaves out, for example
 *   `tools.0.headers.authorization`.
 * @throws ApiError `bad_request` if the workspace has no provider for the agent's model.
 */
export async function addFromDocument(
  tx: WorkspaceTransaction,
  ctx: Context,
  agentId: string,
  given: AgentInDocument,
): Promise<{ token: string; secrets_needed: string[] }> {
  const { paused, pause_reason, triggers, ...settings } = given;
  const owner = { workspaceId: ctx.workspaceId, agentId };
  const { tools, write } = planSecrets(ctx.cipher, owner, settings.tools, { tools: [], kept: [] });
  const config = { ...settings, model_settings: withoutNulls(settings.model_settings), tools };
  const agent = await writeAgent(tx, ctx, {
    agentId,
    config,
    providerId: await resolveModel(tx, ctx, config.model),
    secrets: write,
    pause: paused ? { reason: pause_reason } : undefined,
    action: "agent.import",
    data: { triggers: triggers.length },
  });
  return { token: agent.token, secrets_needed: missingSecretPaths(agent.tools) };
}

function missingSecretPaths(tools: Parameters<typeof showSecrets>[0]): string[] {
  const paths: string[] = [];
  for (const [index, grant] of tools.entries()) {
    if (grant.type !== "http") continue;
    mapValues(grant, index, (value, { path }) => {
      if (typeof value !== "string" && value.secret_last4 === null) paths.push(path);
      return value;
    });
  }
  return paths;
}
