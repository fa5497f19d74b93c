import {
  type Agent,
  type AgentConfig,
  type ToolGrant,
  type UpdateAgentBody,
  updateAgentBody,
} from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit, principalOf } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { resolveModel } from "../providers/index.ts";
import {
  insertNextVersion,
  listSecrets,
  requireAgent,
  requireAgentForChange,
  requireMatchingVersion,
  toAgent,
  writeSecrets,
} from "./records/index.ts";
import { planSecrets } from "./secrets/index.ts";

/**
 * Changes the agent by adding a version. A run that has started keeps the version with which it
 * started.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `stale` if `If-Match` is not the
 *   current version.
 */
export async function updateAgent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Agent> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    requireMatchingVersion(ctx, row);
    const change = parseBody(updateAgentBody, input.body);
    const owner = { workspaceId: ctx.workspaceId, agentId: row.id };
    const before = {
      tools: row.config.tools,
      kept: change.tools === undefined ? [] : await listSecrets(tx, owner),
    };
    const planned =
      change.tools === undefined ? undefined : planSecrets(ctx.cipher, owner, change.tools, before);
    const config = merge(row.config, { ...change, tools: planned?.tools });
    await insertNextVersion(tx, {
      agentId: row.id,
      workspaceId: ctx.workspaceId,
      version: row.version + 1,
      config,
      providerId: await resolveModel(tx, ctx, config.model, row.config.model),
      createdBy: principalOf(ctx.actor),
    });
    if (planned !== undefined) await writeSecrets(tx, owner, planned);
    const secrets = planned && { written: planned.write.length, deleted: planned.remove.length };
    const data = { version: row.version + 1, ...changes(row.config, config), secrets };
    await record(tx, ctx, { action: "agent.update", target: row.id, data });
    return toAgent(await requireAgent(tx, ctx, input.agentId));
  });
}

/** Replaces the fields present in `change`. `model_settings` and `limits` are merged by field. */
function merge(
  config: AgentConfig,
  change: Omit<UpdateAgentBody, "tools"> & { tools: ToolGrant[] | undefined },
): AgentConfig {
  const present = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  // null removes a model setting.
  const settings = Object.entries({ ...config.model_settings, ...change.model_settings }).filter(
    ([, value]) => value != null,
  );
  return {
    ...config,
    ...present,
    model_settings: Object.fromEntries(settings) as AgentConfig["model_settings"],
    limits: { ...config.limits, ...(change.limits as Partial<AgentConfig["limits"]>) },
  };
}
