import { demoEchoName, freePrice, type PriceOf, unknownPrice } from "../engine/index.ts";

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

/** Knows only the demo model, which is free. */
export const builtInPricer: Pricer = ({ model, providerId }) =>
  providerId === null && model === demoEchoName ? freePrice : unknownPrice;
