import type { ShownPrice } from "@beckon/contract";
import {
  calcPrice,
  findProvider,
  type ModelInfo,
  type ModelPrice,
  type Provider,
  type TieredPrices,
} from "@pydantic/genai-prices";
import { plausibleParts, type TokenCounts } from "./token-counts.ts";

/** The price of a model in the price library. */
export interface LibraryPrice {
  /** Returns the cost in whole micro-dollars, rounded up; null if the library has no price now. */
  costOf(counts: TokenCounts): number | null;
  /** Returns the price of now; null if the library has none. */
  show(): Omit<ShownPrice, "origin"> | null;
}

/**
 * Returns the price of a model in the price library; undefined if the library does not list it. The
 * library is the data that the package contains: it requests nothing from the network.
 *
 * The vendor is found by the address that is called, and the model only among the vendor's models.
 * A model's name alone does not determine its price, because every vendor and every server of one's
 * own can give its models any name.
 *
 * @param baseUrl root of the API.
 * @param modelId the vendor's own name of the model.
 */
export function findLibraryPrice(baseUrl: string, modelId: string): LibraryPrice | undefined {
  const vendor = vendorAt(baseUrl);
  const found = vendor && calcPrice({}, modelId, { provider: vendor });
  if (!found) return undefined;
  // A search in a list of one model takes half the time, and each model call makes one.
  const provider = { ...found.provider, models: [meteredOnly(found.model)] };
  const priceOf = (usage: Record<string, number>) => {
    const result = calcPrice(usage, modelId, { provider });
    return result !== null && isComplete(result.model_price) ? result : null;
  };
  return {
    costOf(counts) {
      const parts = plausibleParts(counts);
      const result = priceOf({
        input_tokens: parts.input_tokens,
        output_tokens: parts.output_tokens,
        cache_read_tokens: parts.cached_input_tokens,
        cache_write_tokens: parts.cache_write_tokens,
        output_reasoning_tokens: parts.reasoning_tokens,
      });
      return result && wholeMicros(result.total_price);
    },
    show() {
      const result = priceOf({});
      return result && shownPrice(result.model_price);
    },
  };
}

/**
 * Returns an amount in whole micro-dollars, rounded up. The library adds floating-point numbers, so
 * its result can differ from the exact one after the 15th digit. 14 digits are kept: otherwise
 * 0.1 + 0.2 would be rounded up as if it were more than 0.3.
 */
export function wholeMicros(dollars: number): number {
  return Math.ceil(Number((dollars * 1_000_000).toPrecision(14)));
}

/**
 * Returns the vendor whose API has this root; undefined if the library lists none. The library's
 * patterns have no end, so `https://api.openai.com.example.org` would match the pattern of
 * `https://api.openai.com`. A match must therefore end where the host ends, or within the path, or
 * before the last label of the host if the pattern ends with a dot.
 */
function vendorAt(baseUrl: string): Provider | undefined {
  const url = URL.parse(baseUrl);
  if (url === null) return undefined;
  const address = `${url.origin}${url.pathname}`;
  const vendor = findProvider({ providerApiUrl: address });
  if (vendor === undefined) return undefined;
  const pattern = vendor.api_pattern.replaceAll(".*", "[^/]*");
  const whole = new RegExp(`^(?:${pattern})(?:(?<=\\.)\\w+)?(?:(?<=[^:/]/)|(?=[:/])|$)`);
  return whole.test(address) ? vendor : undefined;
}

/** Keys of the library for what Beckon meters, and for the call itself. */
const meteredKeys = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "output_reasoning_mtok",
  "requests_kcount",
] as const;

/** Returns the model without prices for what Beckon does not meter, for example audio. */
function meteredOnly(model: ModelInfo): ModelInfo {
  const { prices } = model;
  return {
    ...model,
    prices: Array.isArray(prices)
      ? prices.map((each) => ({ ...each, prices: meteredPrices(each.prices) }))
      : meteredPrices(prices),
  };
}

function meteredPrices(prices: ModelPrice): ModelPrice {
  const metered: ModelPrice = {};
  for (const key of meteredKeys) if (prices[key] !== undefined) metered[key] = prices[key];
  return metered;
}

/**
 * Returns whether the library knows what input and output cost. For some models it lists no price
 * at all. Their cost is unknown, and not 0.
 */
function isComplete({ input_mtok, output_mtok }: ModelPrice): boolean {
  return input_mtok !== undefined && output_mtok !== undefined;
}

function shownPrice(price: ModelPrice): Omit<ShownPrice, "origin"> {
  const starts = meteredKeys.flatMap((key) => tiersOf(price[key]).map(({ start }) => start));
  const { requests_kcount: perThousandCalls } = price;
  return {
    ...ratesAt(price, 0),
    call_micros: micros(baseOf(perThousandCalls ?? 0) / 1_000),
    tiers: [...new Set(starts)]
      .sort((one, other) => one - other)
      .map((start) => ({ above_input_tokens: start, ...ratesAt(price, start + 1) })),
  };
}

/** Returns the prices of a call with this many input tokens. */
function ratesAt(price: ModelPrice, inputTokens: number) {
  const dollars = (key: (typeof meteredKeys)[number]) => {
    const value = price[key];
    return value === undefined ? undefined : dollarsAt(value, inputTokens);
  };
  const cached = dollars("cache_read_mtok");
  const written = dollars("cache_write_mtok");
  return {
    input_micros_per_million: micros(dollars("input_mtok") ?? 0),
    output_micros_per_million: micros(dollars("output_mtok") ?? 0),
    cached_input_micros_per_million: cached === undefined ? null : micros(cached),
    cache_write_micros_per_million: written === undefined ? null : micros(written),
  };
}

type LibraryValue = number | TieredPrices;

function dollarsAt(value: LibraryValue, inputTokens: number): number {
  const tier = tiersOf(value).findLast(({ start }) => inputTokens > start);
  return tier?.price ?? baseOf(value);
}

function baseOf(value: LibraryValue): number {
  return typeof value === "number" ? value : value.base;
}

function tiersOf(value: LibraryValue | undefined): TieredPrices["tiers"] {
  if (value === undefined || typeof value === "number") return [];
  return value.tiers.toSorted((one, other) => one.start - other.start);
}

/** Returns dollars as micro-dollars, without the digits that floating point adds. */
function micros(dollars: number): number {
  return Number((dollars * 1_000_000).toPrecision(12));
}
