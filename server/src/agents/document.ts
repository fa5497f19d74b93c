import type { AgentInDocument, ExportedAgent } from "@beckon/contract";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { resolveModel } from "../providers/index.ts";
import type { AgentRow } from "./records/index.ts";
import { mapValues, type showSecrets } from "./records/index.ts";
import { planSecrets } from "./secrets/index.ts";
import { writeAgent } from "./write-agent.ts";

/** The agent as a document holds it, but for its triggers: secrets are left out, what has a prefix keeps it. */
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
    model_settings,
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
 * Makes an agent of one in a document, under an id of the caller's, in a transaction of the caller's, who has checked the permission.
 * @returns its token, and where a secret is needed that the document leaves out.
 * @throws ApiError `bad_request` when its provider is not known here.
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
  const config = { ...settings, tools };
  const agent = await writeAgent(tx, ctx, {
    agentId,
    config,
    providerId: await resolveModel(tx, ctx, config.model),
    secrets: write,
    pause: paused ? { reason: pause_reason } : undefined,
    action: "agent.import",
    data: { triggers: triggers.length },
  });
  return { token: agent.token, secrets_needed: missingIn(agent.tools) };
}

/** The places of secrets that are shown as gone. */
function missingIn(tools: Parameters<typeof showSecrets>[0]): string[] {
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
