import type { TokenUsage } from "@beckon/contract";
import { type Price, type PriceOf, sumMicros } from "./price.ts";
import { totalUsage } from "./usage.ts";

/**
 * One attempt of a model call that was sent to its provider, or one slice of voice or browser time.
 * It becomes an entry of the usage ledger.
 */
export interface MeteredCall {
  readonly kind: "model" | "voice" | "browser";
  /** The step that the call belongs to. */
  readonly step: number;
  /**
   * - `answered`: the answer was complete.
   * - `failed`: the provider answered with an error, or with an answer that cannot be used.
   * - `lost`: no complete answer arrived. The usage is an estimate.
   */
  readonly outcome: "answered" | "failed" | "lost";
  /** The model in the form `provider/model`. */
  readonly modelName: string;
  readonly usage: TokenUsage;
  /** Voice time in milliseconds. Default 0. */
  readonly voiceMs?: number;
  /** Browser time in milliseconds. Default 0. */
  readonly browserMs?: number;
  readonly price: Price;
}

/** A metered call, with the event that reports it. */
export interface ReportedCall {
  /**
   * Position of the event among the events of the same write, counted from 0. The event that ends
   * the run comes after all others.
   */
  readonly entry: number;
  readonly call: MeteredCall;
}

/** The price of a call that used nothing: 0, even if the price of its model is unknown. */
const priceOfNothing: Price = { micros: 0, standardMicros: 0, origin: null };

/** Returns a model call with its price. */
export function meteredModelCall(
  priceOf: PriceOf,
  call: Pick<MeteredCall, "step" | "outcome" | "modelName" | "usage">,
): MeteredCall {
  const { input_tokens, output_tokens } = call.usage;
  const price = input_tokens + output_tokens === 0 ? priceOfNothing : priceOf(call.usage);
  return { kind: "model", ...call, price };
}

/** Returns the usage and the cost of some calls, as events show them. */
export function spentBy(calls: readonly MeteredCall[]): {
  usage: TokenUsage;
  cost_micros: number | null;
} {
  return {
    usage: totalUsage(calls.map(({ usage }) => usage)),
    cost_micros: sumMicros(calls.map(({ price }) => price.micros)),
  };
}
