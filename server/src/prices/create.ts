import { createPriceBody, type ModelPrice } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { type PriceServices, providerOf, ratesOf, toOwnPrice } from "./model-price.ts";
import { findPriceOfModel, insertPrice, lockProvider } from "./store.ts";

/**
 * Sets the price of a model of one of the workspace's own providers. It applies to runs that start
 * or resume afterwards.
 * @throws ApiError `conflict` if the provider is the operator's or built in, or if the model has a
 *   price already; `bad_request` if there is no such provider.
 */
export async function createPrice({
  ctx,
  input,
}: {
  ctx: Context & PriceServices;
  input: { body: UnparsedBody };
}): Promise<Once<ModelPrice>> {
  permit(ctx, "limits:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const { model, ...rates } = parseBody(createPriceBody, input.body);
      const name = providerOf(model);
      const provider = await lockProvider(tx, ctx.workspaceId, name);
      if (provider === undefined) throw notOwn(ctx, name);
      const modelId = model.slice(name.length + 1);
      const existing = await findPriceOfModel(tx, provider, modelId);
      if (existing !== undefined) {
        throw new ApiError(
          "conflict",
          `The model ${model} has a price already. Change it with PATCH /api/public/prices/${existing.id}.`,
        );
      }
      const row = await insertPrice(tx, {
        id: newId("pri"),
        workspace_id: ctx.workspaceId,
        provider_id: provider.id,
        model: modelId,
        ...rates,
      });
      await record(tx, ctx, {
        action: "price.create",
        target: row.id,
        data: { model, ...ratesOf(row) },
      });
      return toOwnPrice(ctx, provider, row);
    }),
  );
}

/** Returns the error for a model whose provider is not one of the workspace's own. */
function notOwn({ operator, workspaceId }: Context, name: string): ApiError {
  if (name === "demo")
    return new ApiError(
      "conflict",
      "model: demo/echo always costs 0. Set prices for models of the workspace's own providers.",
    );
  if (operator?.usableBy(workspaceId).some((provider) => provider.name === name))
    return new ApiError(
      "conflict",
      `model: the provider ${name} is the operator's, so only the operator of Beckon sets its ` +
        "prices, in the file that BECKON_PRICES names. Set prices for models of the workspace's " +
        "own providers.",
    );
  return new ApiError(
    "bad_request",
    `model: this workspace has no provider ${name}. GET /api/public/providers lists its ` +
      "providers; add one with POST /api/public/providers.",
  );
}
