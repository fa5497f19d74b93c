import { type Agent, emptyBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { type Context, permit, principalOf, requireMatchingVersion } from "../../base/context.ts";
import { inWorkspace, type WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { resolveModel } from "../../providers/index.ts";
import {
  type AgentRow,
  insertNextVersion,
  listSecrets,
  requireAgent,
  requireAgentForChange,
  requireVersion,
  type SecretChange,
  type StoredVersion,
  toAgent,
  type VersionInput,
  versionChanges,
  writeSecrets,
} from "../records/index.ts";
import { planSecrets } from "../secrets/index.ts";

/**
 * Restores an earlier version: adds a new version with the same configuration. As with every
 * change, secrets to which the new version does not refer are deleted.
 *
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `stale` if `If-Match` is not the
 *   current version; `conflict` if the earlier version's provider or one of its secrets no longer
 *   exists, if the workspace's own provider now takes precedence over the operator's that the
 *   earlier version used, or if the earlier version would send a secret to a server that the secret
 *   was not entered for.
 */
export async function restoreVersion({
  ctx,
  input,
}: {
  ctx: Context;
  input: VersionInput & { readonly body: UnparsedBody };
}): Promise<Once<Agent>> {
  permit(ctx, "agents:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireAgentForChange(tx, ctx, input.agentId);
    const earlier = await requireVersion(tx, row, input.version);
    return once(tx, ctx, async () => {
      requireMatchingVersion(ctx, "agent", row.version);
      parseBody(emptyBody, input.body, {});
      const secrets = await planRestoredSecrets(tx, ctx, row, earlier);
      const version = row.version + 1;
      await insertNextVersion(tx, {
        agentId: row.id,
        workspaceId: ctx.workspaceId,
        version,
        config: earlier.config,
        providerId: earlier.provider_id,
        createdBy: principalOf(ctx.actor),
      });
      await writeSecrets(tx, { workspaceId: ctx.workspaceId, agentId: row.id }, secrets);
      const data = {
        version,
        restored: earlier.version,
        ...versionChanges(row, { config: earlier.config, providerId: earlier.provider_id }),
        secrets: { deleted: secrets.remove.length },
      };
      await record(tx, ctx, { action: "agent.version.restore", target: row.id, data });
      return toAgent(await requireAgent(tx, ctx, input.agentId));
    });
  });
}

/**
 * Returns the secrets to delete when the version is restored.
 * @throws ApiError `conflict` if the version's provider or one of its secrets no longer exists, if
 *   another provider takes precedence over the version's, or if the version would send a secret to
 *   a server that the secret was not entered for.
 */
async function planRestoredSecrets(
  tx: WorkspaceTransaction,
  ctx: Context,
  row: AgentRow,
  { version, config, provider_id }: StoredVersion,
): Promise<SecretChange> {
  const owner = { workspaceId: ctx.workspaceId, agentId: row.id };
  try {
    const before = provider_id === null ? config.model : undefined;
    if ((await resolveModel(tx, ctx, config.model, before)) !== provider_id) {
      throw new ApiError(
        "conflict",
        provider_id === null
          ? `model: it used the operator's provider, and ${config.model} now belongs to the workspace's own provider of the same name, which takes precedence.`
          : `model: its provider was deleted, and ${config.model} now belongs to another provider.`,
      );
    }
    return planSecrets(ctx.cipher, owner, config.tools, {
      tools: row.config.tools,
      kept: await listSecrets(tx, owner),
    });
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    throw new ApiError(
      "conflict",
      `Version ${version} cannot be restored unchanged. ${thrown.message} You can also change the agent with PATCH.`,
    );
  }
}
