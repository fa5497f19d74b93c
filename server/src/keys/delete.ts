import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { requireKeyForChange } from "./key.ts";
import { deleteKeyRow } from "./store.ts";

/**
 * Deletes the key with all its secrets. After the response, all processes reject the key. Runs that
 * were started with it continue.
 * @throws ApiError `forbidden`, `not_found`; `conflict` for the bootstrap key; the errors of
 *   `requireUnchangedRights`.
 */
export async function deleteKey({
  ctx,
  input,
}: {
  ctx: Context;
  input: { keyId: string };
}): Promise<void> {
  permit(ctx, "keys:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await requireUnchangedRights(tx, ctx);
    const row = await requireKeyForChange(tx, ctx, input.keyId);
    await deleteKeyRow(tx, row);
    await record(tx, ctx, { action: "key.delete", target: row.id, data: { name: row.name } });
  });
}
