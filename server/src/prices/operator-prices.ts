import type { Rates } from "@beckon/contract";

/** The prices in the operator's file. */
export interface OperatorPrices {
  /** Prices by name: `provider/model`, or a prefix of such names followed by `*`. */
  readonly models: ReadonlyMap<string, Rates>;
  /** Billionths of a dollar for a second of voice; undefined if it has no price. */
  readonly voiceNanosPerSecond: number | undefined;
  /** Billionths of a dollar for a second of a browser; undefined if it has no price. */
  readonly browserNanosPerSecond: number | undefined;
}

/** The operator's prices if there is no file. */
export const noOperatorPrices: OperatorPrices = {
  models: new Map(),
  voiceNanosPerSecond: undefined,
  browserNanosPerSecond: undefined,
};

/**
 * Returns the operator's price of `provider/model`; undefined if there is none. The whole name
 * takes precedence over a prefix, and a longer prefix over a shorter one.
 */
export function operatorRates({ models }: OperatorPrices, model: string): Rates | undefined {
  const exact = models.get(model);
  if (exact !== undefined) return exact;
  for (let length = model.length; length >= 0; length--) {
    const rates = models.get(`${model.slice(0, length)}*`);
    if (rates !== undefined) return rates;
  }
  return undefined;
}
