import type { ModelPrice, Rates } from "@beckon/contract";
import type { Context, OperatorProviders } from "../base/context.ts";
import { ApiError } from "../base/errors.ts";
import { baseUrlOf } from "./own-pricing-store.ts";
import type { PricedModel, PriceTable } from "./price-table.ts";
import type { PricedProvider, PriceRow } from "./store.ts";

/** The services that operations on prices need. */
export interface PriceServices {
  readonly prices: PriceTable;
}

/** A model, with the workspace's own provider and price for it, if any. */
interface PricedByWorkspace {
  /** `provider/model`. */
  readonly model: string;
  /** The workspace's own provider; null if the model is built in or the operator's. */
  readonly provider: Pick<PricedProvider, "id" | "kind" | "base_url" | "free"> | null;
  /** The price that the workspace set; null if it set none. */
  readonly price: (Rates & { id: string; created_at: Date; updated_at: Date }) | null;
}

/** Returns the prices of a model as responses show them. */
export function toModelPrice(
  { prices, operator, workspaceId }: Pick<Context, "operator" | "workspaceId"> & PriceServices,
  { model, provider, price }: PricedByWorkspace,
): ModelPrice {
  const address =
    provider === null
      ? operatorAddress(operator, { workspaceId, model })
      : { baseUrl: baseUrlOf(provider) };
  const rates = price === null ? undefined : ratesOf(price);
  const own = provider === null ? undefined : { isFree: provider.free, rates };
  return {
    id: price?.id ?? null,
    model,
    provider_id: provider?.id ?? null,
    ...prices.show({ name: model, ...address, own }),
    created_at: price?.created_at.toISOString() ?? null,
    updated_at: price?.updated_at.toISOString() ?? null,
  };
}

/** Returns the rates of a row without its other columns. */
export function ratesOf(row: Rates): Rates {
  return {
    input_micros_per_million: row.input_micros_per_million,
    output_micros_per_million: row.output_micros_per_million,
    cached_input_micros_per_million: row.cached_input_micros_per_million,
    cache_write_micros_per_million: row.cache_write_micros_per_million,
  };
}

/** Returns the resource of a price that the workspace set for a model of this provider. */
export function toOwnPrice(
  ctx: Pick<Context, "operator" | "workspaceId"> & PriceServices,
  provider: PricedProvider,
  price: PriceRow,
): ModelPrice {
  return toModelPrice(ctx, { model: `${provider.name}/${price.model}`, provider, price });
}

/**
 * Returns where a model of a provider of the operator, or the built-in model, is called. A model
 * server counts as one even if it was not found: after a crash, calls to it can be priced before it
 * is probed, or while it does not run.
 */
export function operatorAddress(
  operator: Pick<OperatorProviders, "usableBy" | "isModelServer"> | undefined,
  { workspaceId, model }: { readonly workspaceId: string; readonly model: string },
): Pick<PricedModel, "baseUrl" | "isModelServer"> {
  const name = providerOf(model);
  return {
    baseUrl: operator?.usableBy(workspaceId).find((each) => each.name === name)?.baseUrl,
    isModelServer: operator?.isModelServer(workspaceId, name) === true,
  };
}

/** Returns the provider's name in `provider/model`. */
export function providerOf(model: string): string {
  return model.slice(0, model.indexOf("/"));
}

/** Returns the error for an id that belongs to no price of the workspace. */
export function noPrice(): ApiError {
  return new ApiError("not_found", "There is no price with this id in this workspace.");
}
