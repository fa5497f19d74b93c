import { isStorableText, type ModelPrice, pricesQuery } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Page, readPage } from "../base/page.ts";
import { parseQuery } from "../base/parse.ts";
import { type PriceServices, providerOf, toModelPrice } from "./model-price.ts";
import { listUsedModels, type UsedModel } from "./used-models-store.ts";

/**
 * The format of the ids in cursors: the model's name in base64url, a space, and the id of the
 * workspace's own provider, if the model has one.
 */
const idForm = /^[\w-]+ (prv_[0-9a-z]{26})?$/;

/**
 * Lists the prices of the models that agents of the workspace use, and of the models for which the
 * workspace set a price, in the order of the models' names. If the query contains `model`, only
 * this model is listed, whether or not it is used. The list is empty if the model's provider is
 * unknown.
 * @throws ApiError `bad_request`; `forbidden` without the scope `providers:read`.
 */
export async function listPrices({
  ctx,
  input,
}: {
  ctx: Context & PriceServices;
  input: { query: unknown };
}): Promise<Page<ModelPrice>> {
  permit(ctx, "providers:read");
  const { model, ...paging } = parseQuery(pricesQuery, input.query);
  const page = readPage(paging, { list: "prices", workspace: ctx.workspaceId, model }, idForm);
  await ctx.operator?.probe(ctx.workspaceId);
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listUsedModels(tx, ctx.workspaceId, {
      limit: page.limit + 1,
      above: page.below === undefined ? undefined : fromId(page.below),
      model,
    }),
  );
  const isUnused = rows.length === 0 && page.below === undefined;
  if (model !== undefined && isUnused && isShared(ctx, providerOf(model)))
    rows.push({ model, providerId: null, provider: null, price: null });
  const { data, next } = page.page(rows.map((row) => ({ id: idOf(row), row })));
  return { data: data.map(({ row }) => toModelPrice(ctx, withTimes(row))), next };
}

/** Returns whether the provider is built in or the operator's. */
function isShared({ operator, workspaceId }: Context, name: string): boolean {
  return (
    name === "demo" ||
    operator?.usableBy(workspaceId).some((provider) => provider.name === name) === true
  );
}

/** Returns the model and its provider as an id for cursors. */
function idOf({ model, providerId }: UsedModel): string {
  return `${Buffer.from(model).toString("base64url")} ${providerId ?? ""}`;
}

function fromId(id: string): { model: string; providerId: string } {
  const [encoded = "", providerId = ""] = id.split(" ");
  const model = Buffer.from(encoded, "base64url").toString();
  if (!isStorableText(model))
    throw new ApiError(
      "bad_request",
      "query parameter after is not a cursor of this list. Start again without after.",
    );
  return { model, providerId };
}

function withTimes({ model, provider, price }: UsedModel) {
  return {
    model,
    provider,
    price: price && {
      ...price,
      created_at: new Date(price.created_at),
      updated_at: new Date(price.updated_at),
    },
  };
}
