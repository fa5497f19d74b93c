import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { rejectOperatorProvider } from "./operator/index.ts";
import { noProvider } from "./provider.ts";
import { agentsUsingProvider, deleteProviderRow, findProviderForUpdate } from "./store.ts";

/**
 * Deletes a provider of the workspace.
 * @throws ApiError `forbidden`, `not_found`; `conflict` if the current version of an existing agent
 *   uses the provider, or if the provider is the operator's.
 */
export async function deleteProvider({
  ctx,
  input,
}: {
  ctx: Context;
  input: { providerId: string };
}): Promise<void> {
  permit(ctx, "providers:write");
  await rejectOperatorProvider(ctx, input.providerId);
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await findProviderForUpdate(tx, ctx.workspaceId, input.providerId);
    if (row === undefined) throw noProvider();
    const users = await agentsUsingProvider(tx, row);
    if (users.length > 0) {
      throw new ApiError(
        "conflict",
        `Agents use this provider: ${users.join(", ")}. Give them another model first.`,
      );
    }
    await deleteProviderRow(tx, row);
    await record(tx, ctx, { action: "provider.delete", target: row.id, data: { name: row.name } });
  });
}
