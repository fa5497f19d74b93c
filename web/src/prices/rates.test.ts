import type { ModelPrice } from "@beckon/client";
import { createElement, type ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Rate } from "./rate.tsx";
import { CallPrice, hasSecondLine, Rates, TierRates } from "./rates.tsx";

const rates = {
  input_micros_per_million: 1_250_000,
  output_micros_per_million: 10_000_000,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
};
const tier = { ...rates, input_micros_per_million: 2_500_000, above_input_tokens: 200_000 };
const current = { ...rates, origin: "library" as const, call_micros: 10_000, tiers: [tier] };
const price: ModelPrice = {
  id: null,
  model: "google/pro",
  provider_id: null,
  current,
  standard: null,
  created_at: null,
  updated_at: null,
};

test("the prices of a call and of long input are shown", () => {
  const textOf = (element: ReactElement) => renderToStaticMarkup(element).replace(/<[^>]*>/g, "");
  const name = "input_micros_per_million";
  expect(textOf(createElement(TierRates, { tiers: [tier], name }))).toBe("above 200k: $2.50");
  expect(textOf(createElement(CallPrice, { price: current }))).toBe("+ $0.01 a call");
  expect(textOf(createElement(Rates, { price }))).toBe(
    "$1.25 in · $10.00 out + $0.01 a call · more &gt; 200k",
  );
  expect(hasSecondLine(price)).toBe(true);
});

test("a price is shown with all its decimals", () => {
  const priceOf = (micros: number) =>
    renderToStaticMarkup(createElement(Rate, { micros, isKnown: true })).replace(/<[^>]*>/g, "");
  expect([1_125_000, 75_000, 50, 10_000_000].map(priceOf)).toEqual([
    "$1.125",
    "$0.075",
    "$0.00005",
    "$10.00",
  ]);
});
