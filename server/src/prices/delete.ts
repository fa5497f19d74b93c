import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { noPrice, ratesOf } from "./model-price.ts";
import { deletePriceRow, findPrice, lockProviderOfPrice } from "./store.ts";

/**
 * Deletes a price that the workspace set. Runs that start or resume afterwards use the price that
 * the model has without it, for example that of the price library.
 * @throws ApiError `not_found` if there is no price with this id.
 */
export async function deletePrice({
  ctx,
  input,
}: {
  ctx: Context;
  input: { priceId: string };
}): Promise<void> {
  permit(ctx, "limits:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const provider = await lockProviderOfPrice(tx, ctx.workspaceId, input.priceId);
    const row = provider && (await findPrice(tx, ctx.workspaceId, input.priceId));
    if (provider === undefined || row === undefined) throw noPrice();
    await deletePriceRow(tx, row);
    await record(tx, ctx, {
      action: "price.delete",
      target: row.id,
      data: { model: `${provider.name}/${row.model}`, ...ratesOf(row) },
    });
  });
}
