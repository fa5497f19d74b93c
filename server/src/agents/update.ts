import { type Agent, updateAgentBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, principalOf, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { modelResolver } from "../providers/index.ts";
import { findOperatorProviders } from "./find-operator-providers.ts";
import { mergeConfig } from "./merge-config.ts";
import {
  insertNextVersion,
  listSecrets,
  requireAgent,
  requireAgentForChange,
  toAgent,
  versionChanges,
  writeSecrets,
} from "./records/index.ts";
import { requireCallableTools, type ToolAddressServices } from "./require-callable-tools.ts";
import { planSecrets } from "./secrets/index.ts";

/**
 * Changes the agent by adding a version. A run that has started keeps the version with which it
 * started. If nothing would change, no version is added: programs that apply a configuration again
 * and again would add identical versions without end.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `stale` if `If-Match` is not the
 *   current version.
 */
export async function updateAgent({
  ctx,
  input,
}: {
  ctx: Context & ToolAddressServices;
  input: { agentId: string; body: UnparsedBody };
}): Promise<Agent> {
  permit(ctx, "agents:write");
  const foundProviders = await findOperatorProviders(ctx, input.body);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    requireMatchingVersion(ctx, "agent", row.version);
    const change = parseBody(updateAgentBody, input.body);
    requireCallableTools(ctx, change.tools ?? [], row.config.tools);
    const owner = { workspaceId: ctx.workspaceId, agentId: row.id };
    const planned =
      change.tools === undefined
        ? undefined
        : planSecrets(ctx.cipher, owner, change.tools, {
            tools: row.config.tools,
            kept: await listSecrets(tx, owner),
          });
    const config = mergeConfig(row.config, { ...change, tools: planned?.tools });
    const resolveModel = await modelResolver(tx, ctx, [config.model], foundProviders);
    const providerId = await resolveModel(config.model, row.config.model);
    const differences = versionChanges(row, { config, providerId });
    const changedSecrets = (planned?.write.length ?? 0) + (planned?.remove.length ?? 0);
    if (changedSecrets === 0 && Object.keys(differences.after).length === 0) return toAgent(row);
    await insertNextVersion(tx, {
      agentId: row.id,
      workspaceId: ctx.workspaceId,
      version: row.version + 1,
      config,
      providerId,
      createdBy: principalOf(ctx.actor),
    });
    if (planned !== undefined) await writeSecrets(tx, owner, planned);
    const secrets = planned && { written: planned.write.length, deleted: planned.remove.length };
    const data = { version: row.version + 1, ...differences, secrets };
    await record(tx, ctx, { action: "agent.update", target: row.id, data });
    return toAgent(await requireAgent(tx, ctx, input.agentId));
  });
}
