import type { OperatorProviders } from "../base/context.ts";
import type { Database } from "../base/database/index.ts";
import { demoEchoName, freePrice, type PriceOf, unknownPrice } from "../engine/index.ts";
import { type PriceTable, readOwnPricing } from "../prices/index.ts";

/** A model, and who provides it. */
export interface PricedModel {
  readonly workspaceId: string;
  /** The model in the form `provider/model`. */
  readonly model: string;
  /** The provider of the model; null unless the workspace configured it. */
  readonly providerId: string | null;
}

/** Returns the current price of a model. */
export type Pricer = (model: PricedModel) => PriceOf | Promise<PriceOf>;

/** Creates the function that reads what the workspace set for a model and finds its price. */
export function createPricer({
  database,
  operator,
  prices,
}: {
  readonly database: Database;
  readonly operator: OperatorProviders | undefined;
  readonly prices: PriceTable;
}): Pricer {
  return ({ workspaceId, model: name, providerId }) => {
    const provider = name.slice(0, name.indexOf("/"));
    if (providerId === null) {
      const shared = operator?.usableBy(workspaceId).find((each) => each.name === provider);
      return prices.pricer({ name, baseUrl: shared?.baseUrl });
    }
    const model = name.slice(provider.length + 1);
    return readOwnPricing(database, { workspaceId, providerId, model }).then((pricing) =>
      prices.pricer({ name, baseUrl: undefined, ...pricing }),
    );
  };
}

/** Knows only the demo model, which is free. */
export const builtInPricer: Pricer = ({ model, providerId }) =>
  providerId === null && model === demoEchoName ? freePrice : unknownPrice;
