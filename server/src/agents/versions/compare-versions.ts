import { compareQuery, type VersionComparison } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { parseQuery } from "../../base/parse.ts";
import { requireAgent, requireVersion, showSecrets, type VersionInput } from "../records/index.ts";
import { differences } from "./differences.ts";

/**
 * Returns the differences between a version and another one, by default the current version.
 * Secrets are shown and compared as id and last four characters, so two secrets with different ids
 * differ even if their values are the same. `provider_id` is one of the fields, because the same
 * model can belong to another provider than before.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function compareVersions({
  ctx,
  input,
}: {
  ctx: Context;
  input: VersionInput & { readonly query: unknown };
}): Promise<VersionComparison> {
  permit(ctx, "agents:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const agent = await requireAgent(tx, ctx, input.agentId);
    const from = await requireVersion(tx, agent, input.version);
    const to = await requireVersion(
      tx,
      agent,
      parseQuery(compareQuery, input.query).with ?? agent.version,
    );
    const compared = ({ config, provider_id }: typeof from) => ({
      ...config,
      tools: showSecrets(config.tools, agent.secrets),
      provider_id,
    });
    return {
      from: from.version,
      to: to.version,
      changes: differences(compared(from), compared(to)),
    };
  });
}
