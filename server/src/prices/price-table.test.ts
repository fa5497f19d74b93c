import type { Rates } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { noOperatorPrices, type OperatorPrices, operatorRates } from "./operator-prices.ts";
import { PriceTable } from "./price-table.ts";

const rates = (input: number, output = input): Rates => ({
  input_micros_per_million: input,
  output_micros_per_million: output,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
});
const operator = (models: Record<string, Rates>, more: Partial<OperatorPrices> = {}) => ({
  ...noOperatorPrices,
  models: new Map(Object.entries(models)),
  ...more,
});

const baseUrl = "https://api.openai.com/v1";
/**
 * A million input tokens, so that the cost is the price in micro-dollars per million. The library's
 * price is 2,500,000.
 */
const million = { input_tokens: 1_000_000, output_tokens: 0, cached_input_tokens: 0 };
const library = 2_500_000;
const file = operator({ "openai/gpt-4o": rates(7) });

describe("a price of the operator applies to", () => {
  const models = {
    "openai/gpt-4o": rates(1),
    "openai/gpt-4*": rates(2),
    "openai/*": rates(3),
    "*": rates(4),
  };

  test.each([
    ["openai/gpt-4o", 1],
    ["openai/gpt-4o-mini", 2],
    ["openai/gpt-4", 2],
    ["openai/gpt-5", 3],
    ["openai-chat/gpt-4o", 4],
    ["anthropic/claude", 4],
  ])("%s by its longest name", (model, expected) => {
    expect(operatorRates(operator(models), model)).toEqual(rates(expected));
  });

  test("no other model", () => {
    const some = operator({ "openai/gpt-4o": rates(1), "openai/gpt-4*": rates(2) });
    expect(operatorRates(some, "openai/gpt-5")).toBeUndefined();
    expect(operatorRates(some, "openai/gpt")).toBeUndefined();
    expect(operatorRates(noOperatorPrices, "openai/gpt-4o")).toBeUndefined();
  });
});

describe("the price of a call", () => {
  const own = (isFree: boolean, price?: number) => ({
    isFree,
    rates: price === undefined ? undefined : rates(price),
  });
  const known = [
    // `undefined`: the provider is the operator's, so the workspace can set nothing for it.
    [file, undefined, 7, 7, "operator"],
    [noOperatorPrices, undefined, library, library, "library"],
    // The provider is the workspace's own.
    [file, own(true, 5), 5, 7, "workspace"],
    [file, own(false, 5), 5, 7, "workspace"],
    [file, own(true), 0, 7, "free"],
    [file, own(false), 7, 7, "operator"],
    [noOperatorPrices, own(true, 5), 5, library, "workspace"],
    [noOperatorPrices, own(true), 0, library, "free"],
    [noOperatorPrices, own(false), library, library, "library"],
  ] as const;

  test.each(known)(
    "is the first of workspace, free, operator and library: case %#",
    (prices, pricing, micros, standardMicros, origin) => {
      const model = { name: "openai/gpt-4o", baseUrl, own: pricing };
      expect(new PriceTable(prices).pricer(model)(million)).toEqual({
        micros,
        standardMicros,
        origin,
      });
    },
  );

  const unknown = { name: "own/llama", baseUrl: "http://127.0.0.1:11434/v1" };

  test.each([
    [undefined, { micros: null, standardMicros: null, origin: null }],
    [own(false), { micros: null, standardMicros: null, origin: null }],
    [own(true), { micros: 0, standardMicros: null, origin: "free" }],
    [own(false, 5), { micros: 5, standardMicros: null, origin: "workspace" }],
  ])("of a model that neither file nor library knows: case %#", (pricing, expected) => {
    const table = new PriceTable(file);
    expect(table.pricer({ ...unknown, own: pricing })(million)).toEqual(expected);
  });

  test.each([
    [file, 0, "free"],
    [operator({ "own/*": rates(5) }), 5, "operator"],
  ])(
    "of a discovered model server is 0 unless the operator's file has one: case %#",
    (prices, micros, origin) => {
      const table = new PriceTable(prices);
      expect(table.pricer({ ...unknown, isModelServer: true })(million)).toEqual({
        micros,
        standardMicros: micros,
        origin,
      });
    },
  );

  test("of demo/echo is 0, whatever the operator's file says", () => {
    const table = new PriceTable(operator({ "*": rates(5) }));
    expect(table.pricer({ name: "demo/echo", baseUrl: undefined })(million)).toEqual({
      micros: 0,
      standardMicros: 0,
      origin: "free",
    });
  });

  test("without tokens is 0, also if no price is known", () => {
    const nothing = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 };
    const table = new PriceTable(noOperatorPrices);
    expect(table.pricer(unknown)(nothing)).toEqual({
      micros: 0,
      standardMicros: 0,
      origin: null,
    });
    const perCall = { name: "perplexity/sonar", baseUrl: "https://api.perplexity.ai" };
    expect(table.pricer(perCall)(nothing)).toMatchObject({ micros: 0 });
  });
});

describe("the shown price", () => {
  const shown = (origin: string, price: Rates) => ({ origin, ...price, call_micros: 0, tiers: [] });

  test("contains the standard price beside the workspace's own", () => {
    const model = { name: "openai/gpt-4o", baseUrl, own: { isFree: false, rates: rates(5) } };
    expect(new PriceTable(file).show(model)).toEqual({
      current: shown("workspace", rates(5)),
      standard: shown("operator", rates(7)),
    });
  });

  test("of a free provider is 0", () => {
    const model = {
      name: "own/llama",
      baseUrl: undefined,
      own: { isFree: true, rates: undefined },
    };
    expect(new PriceTable(file).show(model)).toEqual({
      current: shown("free", rates(0)),
      standard: null,
    });
  });

  test("is null if it is unknown", () => {
    expect(new PriceTable(file).show({ name: "own/llama", baseUrl: undefined })).toEqual({
      current: null,
      standard: null,
    });
  });
});

describe("time", () => {
  const timed = operator({}, { voiceNanosPerSecond: 100_000, browserNanosPerSecond: 13_890 });

  test("costs the operator's price, rounded up", () => {
    const table = new PriceTable(timed);
    expect([table.timePrice("voice", 1_001), table.timePrice("browser", 60_000)]).toEqual([
      { micros: 101, standardMicros: 101, origin: "operator" },
      { micros: 834, standardMicros: 834, origin: "operator" },
    ]);
  });

  test("has no price without the operator's file", () => {
    expect(new PriceTable(noOperatorPrices).timePrice("voice", 1_000)).toEqual({
      micros: null,
      standardMicros: null,
      origin: null,
    });
  });
});
