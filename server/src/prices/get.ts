import type { ModelPrice } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { noPrice, type PriceServices, toOwnPrice } from "./model-price.ts";
import { findPrice, findProvider } from "./store.ts";

/**
 * Returns a price that the workspace set.
 * @throws ApiError `forbidden` without the scope `providers:read`; `not_found` if there is no price
 *   with this id.
 */
export async function getPrice({
  ctx,
  input,
}: {
  ctx: Context & PriceServices;
  input: { priceId: string };
}): Promise<ModelPrice> {
  permit(ctx, "providers:read");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await findPrice(tx, ctx.workspaceId, input.priceId);
    const provider = row && (await findProvider(tx, row));
    if (row === undefined || provider === undefined) throw noPrice();
    return toOwnPrice(ctx, provider, row);
  });
}
