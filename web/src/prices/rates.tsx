import type { ModelPrice } from "@beckon/client";
import { formatCount, formatPrice, formatShortCount } from "../format/index.ts";
import { Rate } from "./rate.tsx";

type Price = NonNullable<ModelPrice["current"]>;

/** The name of a price for 1,000,000 tokens. */
export type RateName =
  | "input_micros_per_million"
  | "cached_input_micros_per_million"
  | "cache_write_micros_per_million"
  | "output_micros_per_million";

/**
 * Returns whether the row of a price needs a second line, for the price of a call or of long input.
 */
export function hasSecondLine({ current }: ModelPrice): boolean {
  return current !== null && (current.call_micros > 0 || current.tiers.length > 0);
}

/** The price of each call, which is added to that of its tokens; nothing if it is 0. */
export function CallPrice({ price }: { readonly price: Price | null }) {
  if (price === null || price.call_micros === 0) return null;
  return (
    <span className="truncate text-label text-ink-2">{`+ ${formatPrice(price.call_micros)} a call`}</span>
  );
}

/** The prices of input and output in one line, for phones. */
export function Rates({ price: { current } }: { readonly price: ModelPrice }) {
  if (current === null) return <span className="text-dense text-ink-3">Price unknown</span>;
  const [tier] = current.tiers;
  return (
    <span className="truncate text-dense text-ink-2">
      <Rate micros={current.input_micros_per_million} isKnown /> in ·{" "}
      <Rate micros={current.output_micros_per_million} isKnown /> out
      {current.call_micros === 0 ? null : ` + ${formatPrice(current.call_micros)} a call`}
      {tier === undefined ? null : ` · more > ${formatShortCount(tier.above_input_tokens)}`}
    </span>
  );
}

/**
 * The price of calls with long input, below the price of other calls. If there are several, the
 * first one is shown, and the title has all.
 */
export function TierRates({
  tiers,
  name,
}: {
  readonly tiers: Price["tiers"];
  readonly name: RateName;
}) {
  const [first] = tiers;
  if (first === undefined) return null;
  const titles = tiers.map(
    (tier) =>
      `above ${formatCount(tier.above_input_tokens)} tokens of input: ${tierRate(tier, name)}`,
  );
  return (
    <span className="truncate text-label text-ink-2" title={titles.join("\n")}>
      {`above ${formatShortCount(first.above_input_tokens)}: ${tierRate(first, name)}`}
      {tiers.length > 1 ? " …" : ""}
    </span>
  );
}

function tierRate(tier: Price["tiers"][number], name: RateName): string {
  return formatPrice(tier[name] ?? tier.input_micros_per_million);
}
