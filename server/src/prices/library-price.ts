import type { ShownPrice } from "@beckon/contract";
import {
  type ConditionalPrice,
  calcPrice,
  findProvider,
  type ModelPrice,
  type Provider,
} from "@pydantic/genai-prices";
import type { TokenCounts } from "./token-counts.ts";
import { costOfCall, priceOfToken, type TokenPrices } from "./token-prices.ts";

/** The price of a model in the price library. */
export interface LibraryPrice {
  /**
   * Returns the cost in whole micro-dollars, rounded up; null if the library has no price.
   * @param withinMs time from now, at most one day. If the price changes within this time, the
   *   highest cost is returned. Default 0: the current cost.
   */
  costOf(counts: TokenCounts, withinMs?: number): number | null;
  /** Returns the current price; null if the library has none. */
  show(): Omit<ShownPrice, "origin"> | null;
}

/**
 * Returns the price of a model in the price library; undefined if the library does not list it. The
 * library is the data that the package contains: it requests nothing from the network.
 *
 * The vendor is found by the address that is called, and the model only among the vendor's models.
 * A model's name alone does not determine its price, because every vendor, and everyone who runs a
 * model server, can choose any name.
 *
 * @param baseUrl root of the API.
 * @param name the vendor's own name of the model, also with Google's prefix `models/`.
 */
export function findLibraryPrice(baseUrl: string, name: string): LibraryPrice | undefined {
  const modelId = name.replace(/^models\//, "");
  const vendor = vendorAt(baseUrl);
  const found = vendor && calcPrice({}, modelId, { provider: vendor });
  if (!found) return undefined;
  const provider = { ...found.provider, models: [found.model] };
  const { prices } = found.model;
  // If `prices` is a list, the price depends on the time, so it is looked up for each call. In all
  // other cases it is looked up once, because a look-up takes longer than computing a cost.
  const constant = Array.isArray(prices) ? undefined : found.model_price;
  const priceAt = (time: number) => {
    const price =
      constant ?? calcPrice({}, modelId, { provider, timestamp: new Date(time) })?.model_price;
    return price !== undefined && isComplete(price) ? price : undefined;
  };
  return {
    costOf(counts, withinMs = 0) {
      const now = Date.now();
      const changes =
        Array.isArray(prices) && withinMs > 0 ? changesBetween(prices, now, now + withinMs) : [];
      let highest = 0;
      for (const time of [now, ...changes]) {
        const price = priceAt(time);
        if (price === undefined) return null;
        highest = Math.max(highest, costAt(price, counts));
      }
      return highest;
    },
    show() {
      const price = priceAt(Date.now());
      return price === undefined ? null : shownPrice(price);
    },
  };
}

const dayMs = 86_400_000;

/**
 * Returns the times at which a price can change, later than `from` and not later than `to`. All
 * times are milliseconds since 1970, and `to` is at most one day later than `from`.
 */
function changesBetween(prices: readonly ConditionalPrice[], from: number, to: number): number[] {
  const midnight = from - (from % dayMs);
  return prices
    .flatMap(({ constraint }) => {
      if (constraint === undefined) return [];
      if (constraint.type === "start_date") return Date.parse(constraint.start_date);
      return [constraint.start_time, constraint.end_time].flatMap((time) => {
        // 2 January, because `time` can contain a time zone. On 1 January 1970, where Unix time
        // begins, the parsed time could be negative.
        const sinceMidnight = Date.parse(`1970-01-02T${time}`) % dayMs;
        return [midnight + sinceMidnight, midnight + dayMs + sinceMidnight];
      });
    })
    .filter((time) => time > from && time <= to);
}

function costAt(price: ModelPrice, counts: TokenCounts): number {
  const prices = tokenPricesAt(price, counts.input_tokens);
  // `priceOfToken` takes the dollars for 1,000,000 units. Here the units are calls, not tokens.
  return costOfCall(prices, counts, priceOfToken(dollarsOfCall(price) * 1_000_000));
}

/**
 * Returns the vendor whose API has this root; undefined if the library lists none. The library's
 * patterns are not anchored at the end: the pattern of `https://api.openai.com` would also match
 * `https://api.openai.com.example.org`. A match must therefore end where the host or a segment of
 * the path ends. Some patterns end with a dot, as `https://api.moonshot.` does, and leave out the
 * last label of the host. After such a pattern, exactly one label must follow.
 *
 * The library takes Azure API Management (`azure-api.net`) for a vendor. It is a gateway, and its
 * owner chooses which servers are behind it.
 */
function vendorAt(baseUrl: string): Provider | undefined {
  const url = URL.parse(baseUrl);
  if (url === null || url.hostname.endsWith(".azure-api.net")) return undefined;
  const address = `${url.origin}${url.pathname}`;
  const vendor = findProvider({ providerApiUrl: address });
  if (vendor === undefined) return undefined;
  // Unchanged, some patterns would match a host that is only a part of the path.
  const pattern = vendor.api_pattern.replaceAll(".*", "[^/]*").replaceAll("[^.]*", "[^./]*");
  const whole = new RegExp(`^(?:${pattern})(?:(?<=\\.)\\w+)?(?:(?<=[^:/]/)|(?=[:/])|$)`);
  return whole.test(address) ? vendor : undefined;
}

/** Names that the library gives to the prices of the tokens that Beckon meters. */
const tokenKeys = [
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "output_reasoning_mtok",
] as const;

/**
 * Returns whether the library has a price for input and one for output. Some models have none, so
 * their cost is unknown, and not 0.
 */
function isComplete({ input_mtok, output_mtok }: ModelPrice): boolean {
  return input_mtok !== undefined && output_mtok !== undefined;
}

/** Returns the prices of one token in a call with this many input tokens, which decide the tier. */
function tokenPricesAt(price: ModelPrice, inputTokens: number): TokenPrices {
  const dollars = dollarsAt(price, inputTokens);
  return {
    input: priceOfToken(dollars.input),
    cachedInput: priceOfToken(dollars.cachedInput ?? dollars.input),
    cacheWrite: priceOfToken(dollars.cacheWrite ?? dollars.input),
    output: priceOfToken(dollars.output),
    reasoning: priceOfToken(dollars.reasoning ?? dollars.output),
  };
}

function shownPrice(price: ModelPrice): Omit<ShownPrice, "origin"> {
  const starts = tokenKeys.flatMap((key) => tiersOf(price[key]).map(({ start }) => start));
  return {
    ...shownRatesAt(price, 0),
    call_micros: micros(dollarsOfCall(price)),
    tiers: [...new Set(starts)]
      .sort((one, other) => one - other)
      .map((start) => ({ above_input_tokens: start, ...shownRatesAt(price, start + 1) })),
  };
}

function shownRatesAt(price: ModelPrice, inputTokens: number) {
  const { input, output, cachedInput, cacheWrite } = dollarsAt(price, inputTokens);
  return {
    input_micros_per_million: micros(input),
    output_micros_per_million: micros(output),
    cached_input_micros_per_million: cachedInput === undefined ? null : micros(cachedInput),
    cache_write_micros_per_million: cacheWrite === undefined ? null : micros(cacheWrite),
  };
}

type LibraryValue = ModelPrice[string];

/**
 * Returns the library's prices for 1,000,000 tokens, in dollars, of a call with this many input
 * tokens.
 */
function dollarsAt(price: ModelPrice, inputTokens: number) {
  const dollars = (value: LibraryValue) => {
    if (typeof value !== "object") return value;
    return tiersOf(value).findLast(({ start }) => inputTokens > start)?.price ?? value.base;
  };
  return {
    input: dollars(price.input_mtok) ?? 0,
    cachedInput: dollars(price.cache_read_mtok),
    cacheWrite: dollars(price.cache_write_mtok),
    output: dollars(price.output_mtok) ?? 0,
    reasoning: dollars(price.output_reasoning_mtok),
  };
}

/** Returns the dollars for each call. The library lists them for 1,000 calls, without tiers. */
function dollarsOfCall({ requests_kcount: perThousand }: ModelPrice): number {
  return typeof perThousand === "number" ? perThousand / 1_000 : 0;
}

/** Returns the tiers of a price in ascending order; none if it has no tiers. */
function tiersOf(value: LibraryValue) {
  if (typeof value !== "object") return [];
  return value.tiers.toSorted((one, other) => one.start - other.start);
}

/** Returns dollars as micro-dollars, without the digits that floating point adds. */
function micros(dollars: number): number {
  return Number((dollars * 1_000_000).toPrecision(12));
}
