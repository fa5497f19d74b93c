import type { OperatorProviders } from "../base/context.ts";
import type { Database } from "../base/database/index.ts";
import type { PriceOf } from "../engine/index.ts";
import { operatorAddress, type PriceTable, readOwnPricing } from "../prices/index.ts";

/** A model whose price is needed. */
export interface PricedModel {
  readonly workspaceId: string;
  /** The model in the form `provider/model`. */
  readonly model: string;
  /** Id of the workspace's own provider; null if the model is built in or the operator's. */
  readonly providerId: string | null;
}

/** Returns the function that computes the price of the model's calls at its current rates. */
export type Pricer = (model: PricedModel) => PriceOf | Promise<PriceOf>;

/**
 * Creates a pricer. For a model of a workspace's own provider, it reads the price that the
 * workspace set, and whether the provider is marked as free.
 */
export function createPricer({
  database,
  operator,
  prices,
}: {
  readonly database: Database;
  readonly operator: Pick<OperatorProviders, "usableBy" | "isModelServer"> | undefined;
  readonly prices: PriceTable;
}): Pricer {
  return ({ workspaceId, model: name, providerId }) => {
    if (providerId === null)
      return prices.pricer({ name, ...operatorAddress(operator, { workspaceId, model: name }) });
    const model = name.slice(name.indexOf("/") + 1);
    return readOwnPricing(database, { workspaceId, providerId, model }).then((pricing) =>
      prices.pricer({ name, baseUrl: undefined, ...pricing }),
    );
  };
}
