import { type Agent, updateAgentBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, principalOf, requireMatchingVersion } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { findOperatorProviders } from "./find-operator-providers.ts";
import { planChange } from "./plan-change.ts";
import {
  insertNextVersion,
  requireAgent,
  requireAgentForChange,
  toAgent,
  writeSecrets,
} from "./records/index.ts";
import type { ToolAddressServices } from "./require-callable-tools.ts";

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
    const planned = await planChange(tx, ctx, row, change, foundProviders);
    const { config, providerId, secrets, differences } = planned;
    const changedSecrets = (secrets?.write.length ?? 0) + (secrets?.remove.length ?? 0);
    if (changedSecrets === 0 && Object.keys(differences.after).length === 0) return toAgent(row);
    await insertNextVersion(tx, {
      agentId: row.id,
      workspaceId: ctx.workspaceId,
      version: row.version + 1,
      config,
      providerId,
      createdBy: principalOf(ctx.actor),
    });
    const owner = { workspaceId: ctx.workspaceId, agentId: row.id };
    if (secrets !== undefined) await writeSecrets(tx, owner, secrets);
    const data = {
      version: row.version + 1,
      ...differences,
      secrets: secrets && { written: secrets.write.length, deleted: secrets.remove.length },
    };
    await record(tx, ctx, { action: "agent.update", target: row.id, data });
    return toAgent(await requireAgent(tx, ctx, input.agentId));
  });
}
