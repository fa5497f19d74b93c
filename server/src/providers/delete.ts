import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { noProvider } from "./provider.ts";
import { agentsUsingProvider, deleteProviderRow, findProviderForUpdate } from "./store.ts";

/** @throws ApiError `conflict` while a living agent uses it. */
export async function deleteProvider({
  ctx,
  input,
}: {
  ctx: Context;
  input: { providerId: string };
}): Promise<void> {
  permit(ctx, "providers:write");
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
