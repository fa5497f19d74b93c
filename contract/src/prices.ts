import { z } from "zod";
import { modelName } from "./agents.ts";
import { pageQuery } from "./responses.ts";

/**
 * Where a price comes from. `library`: the list of vendors' prices that is part of Beckon.
 * `operator`: the operator's file (the setting BECKON_PRICES). `workspace`: set by the workspace
 * for its own provider. `free`: the provider is marked as free, or is a model server that was found
 * on Beckon's machine, or the model is built in.
 */
const priceOrigin = z.enum(["library", "operator", "workspace", "free"]);
export type PriceOrigin = z.infer<typeof priceOrigin>;

/** Upper limit of a price that a workspace or the operator sets: $2,000 per 1,000,000 tokens. */
export const maxMicrosPerMillion = 2_000_000_000;
/** Micro-dollars for 1,000,000 tokens, 0 to 2,000,000,000 ($2,000). */
const perMillion = z.number().int().min(0).max(maxMicrosPerMillion);

const rates = z.strictObject({
  input_micros_per_million: perMillion,
  output_micros_per_million: perMillion,
  /** Input that the provider read from its cache. null: it costs as much as other input. */
  cached_input_micros_per_million: perMillion.nullable(),
  /** Input that the provider wrote to its cache. null: it costs as much as other input. */
  cache_write_micros_per_million: perMillion.nullable(),
});

/** A price in micro-dollars for 1,000,000 tokens, as a workspace or the operator sets it. */
export type Rates = z.infer<typeof rates>;

/** Body of `POST /prices`. The model must belong to one of the workspace's own providers. */
export const createPriceBody = z.strictObject({
  model: modelName,
  ...rates.shape,
  cached_input_micros_per_million: rates.shape.cached_input_micros_per_million.default(null),
  cache_write_micros_per_million: rates.shape.cache_write_micros_per_million.default(null),
});

/** Body of `PATCH /prices/:price_id`. Fields that are absent keep their values. */
export const updatePriceBody = rates.partial();

/**
 * Query of `GET /prices`. Without `model`, the list has the models that agents use, and those for
 * which the workspace has set a price. With `model`, it has only this model, even if no agent uses
 * it, and is empty if the workspace can use no provider with the name before the `/`.
 */
export const pricesQuery = z.strictObject({ ...pageQuery.shape, model: modelName.optional() });

/** Micro-dollars for 1,000,000 tokens; no integer, because library prices can have fractions. */
const shownPerMillion = z.number().nonnegative();

const shownRates = z.object({
  input_micros_per_million: shownPerMillion,
  output_micros_per_million: shownPerMillion,
  /** null: these tokens cost as much as other input. */
  cached_input_micros_per_million: shownPerMillion.nullable(),
  /** null: these tokens cost as much as other input. */
  cache_write_micros_per_million: shownPerMillion.nullable(),
});

const shownPrice = shownRates.extend({
  origin: priceOrigin,
  /** Micro-dollars for each call, in addition to its tokens. */
  call_micros: z.number().nonnegative(),
  /**
   * Prices of calls with long input, sorted by `above_input_tokens`. The last tier whose
   * `above_input_tokens` the input exceeds applies to all tokens of the call.
   */
  tiers: z.array(shownRates.extend({ above_input_tokens: z.number().int().nonnegative() })),
});
export type ShownPrice = z.infer<typeof shownPrice>;

/**
 * What the calls of a model cost. For prices that change with the time of day, these are the
 * current ones.
 */
export const modelPrice = z.object({
  /** `pri_…` of the workspace's own price; null if the workspace has set none for this model. */
  id: z.string().nullable(),
  /** `provider/model`. */
  model: z.string(),
  /**
   * `prv_…` of the workspace's own provider; null for a provider of the operator, for `demo`, and
   * if there is no such provider. A price can only be set for the workspace's own providers.
   */
  provider_id: z.string().nullable(),
  /** The price of runs that start now; null if it is unknown. */
  current: shownPrice.nullable(),
  /**
   * The price that would apply if the workspace had neither set a price nor marked its provider as
   * free: the one in the operator's file, else the one in the library; null if it is unknown.
   */
  standard: shownPrice.nullable(),
  /** null if the workspace has set no price for this model. */
  created_at: z.iso.datetime().nullable(),
  /** null if the workspace has set no price for this model. */
  updated_at: z.iso.datetime().nullable(),
});
export type ModelPrice = z.infer<typeof modelPrice>;
