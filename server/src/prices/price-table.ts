import type { PriceOrigin, Rates, ShownPrice } from "@beckon/contract";
import { LRUCache } from "lru-cache";
import { findLibraryPrice, type LibraryPrice } from "./library-price.ts";
import { type OperatorPrices, operatorRates } from "./operator-prices.ts";
import type { TokenCounts } from "./token-counts.ts";
import { costOfCall, costOfTime, tokenPricesOf } from "./token-prices.ts";

/** What a call costs. */
export interface CallPrice {
  /** Cost in micro-dollars; null if it is unknown. */
  readonly micros: number | null;
  /**
   * Cost computed as if the workspace had set no price, with the operator's file or the library;
   * null if it is unknown.
   */
  readonly standardMicros: number | null;
  /** Origin of the price by which `micros` was computed; null if there is none. */
  readonly origin: PriceOrigin | null;
}

/** Everything on which the price of a model depends. */
export interface PricedModel {
  /** `provider/model`. */
  readonly name: string;
  /** Root of the provider's API; undefined for the built-in model, and if there is no provider. */
  readonly baseUrl: string | undefined;
  /** Whether the provider is a model server on this machine. Default false. */
  readonly isModelServer?: boolean;
  /**
   * The workspace's settings for the model; undefined if the provider is not the workspace's own.
   */
  readonly own?: OwnPricing | undefined;
}

/** The settings of a workspace for a model of its own provider. */
export interface OwnPricing {
  readonly isFree: boolean;
  readonly rates: Rates | undefined;
}

/** The price of a model from one origin. */
interface KnownPrice {
  readonly origin: PriceOrigin;
  readonly costOf: (counts: TokenCounts, withinMs?: number) => number | null;
  readonly show: () => ShownPrice | null;
}

/** Maximum number of models whose price in the library is cached. */
const maxCached = 2_000;

const nothing: Rates = {
  input_micros_per_million: 0,
  output_micros_per_million: 0,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
};
const free = byRates("free", nothing);

/**
 * The prices of the operator's file and of the library. Decides which price applies to a model:
 *
 * - `demo/echo` is free.
 * - For a workspace's own provider: the workspace's price, else free if the provider is marked so,
 *   else the operator's price, else the library's.
 * - For a provider of the operator: the operator's price, else the library's.
 * - For a model server on this machine: the operator's price, else free. Nobody sends a bill for
 *   it, and only the operator could set another price.
 */
export class PriceTable {
  readonly #operator: OperatorPrices;
  readonly #library = new LRUCache<string, { readonly price: LibraryPrice | undefined }>({
    max: maxCached,
  });

  constructor(operator: OperatorPrices) {
    this.#operator = operator;
  }

  /**
   * Returns the function that computes the price of calls of a model. The function reads neither
   * the network nor the database. A call without tokens costs 0, even if no price is known. With
   * `withinMs`, the price is the highest within this time: see `LibraryPrice`.
   */
  pricer(model: PricedModel): (counts: TokenCounts, withinMs?: number) => CallPrice {
    const { current, standard } = this.#pricesOf(model);
    const origin = current?.origin ?? null;
    return (counts, withinMs) => {
      if (counts.input_tokens === 0 && counts.output_tokens === 0)
        return { micros: 0, standardMicros: 0, origin };
      const standardMicros = standard?.costOf(counts, withinMs) ?? null;
      const micros =
        current === standard ? standardMicros : (current?.costOf(counts, withinMs) ?? null);
      return { micros, standardMicros, origin: micros === null ? null : origin };
    };
  }

  /** Returns the prices of a model as responses show them; null for a price that is unknown. */
  show(model: PricedModel): {
    readonly current: ShownPrice | null;
    readonly standard: ShownPrice | null;
  } {
    const { current, standard } = this.#pricesOf(model);
    return { current: current?.show() ?? null, standard: standard?.show() ?? null };
  }

  /**
   * Returns the price of voice or browser time. Only the operator's file has such prices.
   * @param milliseconds an integer.
   */
  timePrice(kind: "voice" | "browser", milliseconds: number): CallPrice {
    const { voiceNanosPerSecond, browserNanosPerSecond } = this.#operator;
    const nanos = kind === "voice" ? voiceNanosPerSecond : browserNanosPerSecond;
    if (nanos === undefined) return { micros: null, standardMicros: null, origin: null };
    const micros = costOfTime(nanos, milliseconds);
    return { micros, standardMicros: micros, origin: "operator" };
  }

  #pricesOf(model: PricedModel): {
    readonly current: KnownPrice | undefined;
    readonly standard: KnownPrice | undefined;
  } {
    // Only the built-in model has such a name, because no provider can be named `demo`.
    if (model.name.startsWith("demo/")) return { current: free, standard: free };
    const standard = this.#standard(model);
    const { isFree = false, rates } = model.own ?? {};
    const own = rates === undefined ? undefined : byRates("workspace", rates);
    return { current: own ?? (isFree ? free : standard), standard };
  }

  #standard({ name, baseUrl, isModelServer = false }: PricedModel): KnownPrice | undefined {
    const rates = operatorRates(this.#operator, name);
    if (rates !== undefined) return byRates("operator", rates);
    if (isModelServer) return free;
    if (baseUrl === undefined) return undefined;
    const price = this.#libraryPrice(baseUrl, name.slice(name.indexOf("/") + 1));
    if (price === undefined) return undefined;
    const origin = "library";
    return {
      origin,
      costOf: price.costOf,
      show() {
        const shown = price.show();
        return shown && { origin, ...shown };
      },
    };
  }

  #libraryPrice(baseUrl: string, modelId: string): LibraryPrice | undefined {
    // A space is an unambiguous separator, because a base URL contains none.
    const key = `${baseUrl} ${modelId}`;
    const known = this.#library.get(key) ?? { price: findLibraryPrice(baseUrl, modelId) };
    this.#library.set(key, known);
    return known.price;
  }
}

function byRates(origin: PriceOrigin, rates: Rates): KnownPrice {
  const prices = tokenPricesOf(rates);
  return {
    origin,
    costOf: (counts) => costOfCall(prices, counts),
    show: () => ({ origin, ...rates, call_micros: 0, tiers: [] }),
  };
}
