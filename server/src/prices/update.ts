import { type ModelPrice, updatePriceBody } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { noPrice, type PriceServices, ratesOf, toOwnPrice } from "./model-price.ts";
import { findPrice, lockProviderOfPrice, updatePriceRow } from "./store.ts";

/**
 * Changes a price that the workspace set. The new price applies to runs that start or resume
 * afterwards; recorded costs do not change.
 * @throws ApiError `not_found` if there is no price with this id.
 */
export async function updatePrice({
  ctx,
  input,
}: {
  ctx: Context & PriceServices;
  input: { priceId: string; body: UnparsedBody };
}): Promise<ModelPrice> {
  permit(ctx, "limits:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const provider = await lockProviderOfPrice(tx, ctx.workspaceId, input.priceId);
    const row = provider && (await findPrice(tx, ctx.workspaceId, input.priceId));
    if (provider === undefined || row === undefined) throw noPrice();
    const changed = await updatePriceRow(tx, row, parseBody(updatePriceBody, input.body));
    await record(tx, ctx, {
      action: "price.update",
      target: row.id,
      data: { model: `${provider.name}/${row.model}`, ...changes(ratesOf(row), ratesOf(changed)) },
    });
    return toOwnPrice(ctx, provider, changed);
  });
}
