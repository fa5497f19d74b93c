import { demoEchoName, freePrice, unknownPrice } from "../src/engine/index.ts";
import type { Pricer } from "../src/runs/pricer.ts";

/**
 * A pricer without a price list: the demo model is free, and the price of all others is unknown.
 */
export const builtInPricer: Pricer = ({ model, providerId }) =>
  providerId === null && model === demoEchoName ? freePrice : unknownPrice;
