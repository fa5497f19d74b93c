import { calcPrice, findProvider } from "@pydantic/genai-prices";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { findLibraryPrice } from "./library-price.ts";
import type { TokenCounts } from "./token-counts.ts";

const openai = "https://api.openai.com/v1";
const anthropic = "https://api.anthropic.com/v1";
const google = "https://generativelanguage.googleapis.com/v1beta";

function priceOf(baseUrl: string, model: string) {
  const price = findLibraryPrice(baseUrl, model);
  if (price === undefined) throw new Error(`the library has no price for ${model}`);
  return price;
}
const counts = (input: number, output: number, parts: Partial<TokenCounts> = {}): TokenCounts => ({
  input_tokens: input,
  output_tokens: output,
  cached_input_tokens: 0,
  ...parts,
});

describe("the vendor is found by its address", () => {
  test.each([
    [openai, "gpt-4o"],
    ["https://api.openai.com", "gpt-4o"],
    ["https://api.openai.com:443/v1/", "gpt-4o"],
    ["HTTPS://API.OPENAI.COM/v1", "gpt-4o"],
    [anthropic, "claude-sonnet-4-5"],
    [google, "gemini-2.5-pro"],
    ["https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro"],
    ["https://openrouter.ai/api/v1", "openai/gpt-4o"],
    ["https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"],
    ["https://api.moonshot.ai/v1", "kimi-k2-0905-preview"],
    ["https://example.openai.azure.com/openai/v1", "gpt-4o"],
    ["https://api.cloudflare.com/client/v4/accounts/1a2b/ai/v1", "@cf/openai/gpt-oss-20b"],
  ])("%s knows %s", (baseUrl, model) => {
    expect(findLibraryPrice(baseUrl, model)?.show()).toMatchObject({ call_micros: 0 });
  });

  test.each([
    "http://127.0.0.1:11434/v1",
    "http://localhost:8000/v1",
    "http://api.openai.com/v1",
    "https://api.openai.com.example.org/v1",
    "https://api.openai.community/v1",
    "https://example.org/api.openai.com/v1",
    "https://example.org/?https://api.openai.com",
    "https://example.org/x.googleapis.com",
    "https://examplegoogleapis.com",
    "https://api.moonshot.example.org/v1",
    "https://proxy.example.org/v1",
    "https://example.azure-api.net/llm/v1",
    "https://[2001:db8::1]/x.openai.azure.com/v1",
    "not a URL",
  ])("%s is the address of no vendor", (baseUrl) => {
    for (const model of ["gpt-4o", "gemini-2.5-pro", "kimi-k2-0905-preview"])
      expect(findLibraryPrice(baseUrl, model)).toBeUndefined();
  });
});

test("a model's name has no price at another vendor", () => {
  expect(findLibraryPrice(openai, "claude-sonnet-4-5")).toBeUndefined();
  expect(findLibraryPrice(anthropic, "gpt-4o")).toBeUndefined();
  expect(findLibraryPrice(openai, "no-such-model")).toBeUndefined();
});

test("a name with the prefix that Google's lists have has the price of the name without it", () => {
  const endpoint = `${google}/openai`;
  const prices = ["gemini-2.5-flash", "models/gemini-2.5-flash"].map((model) =>
    priceOf(endpoint, model).show(),
  );
  expect(prices[0]).toMatchObject({ call_micros: 0 });
  expect(prices[1]).toEqual(prices[0]);
});

test("input, cached input and output have their prices", () => {
  const { costOf } = priceOf(openai, "gpt-4o");
  expect(costOf(counts(1_000_000, 0))).toBe(2_500_000);
  expect(costOf(counts(0, 1_000_000))).toBe(10_000_000);
  expect(costOf(counts(1_000_000, 0, { cached_input_tokens: 1_000_000 }))).toBe(1_250_000);
  expect(costOf(counts(1_000, 100, { cached_input_tokens: 400 }))).toBe(1_500 + 500 + 1_000);
});

test("cache writes have their price, or that of input if the vendor does not charge for them", () => {
  expect(
    priceOf(anthropic, "claude-sonnet-4-5").costOf(counts(1_000, 0, { cache_write_tokens: 1_000 })),
  ).toBe(3_750);
  expect(
    priceOf("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5").costOf(
      counts(100_000, 0, { cache_write_tokens: 100_000 }),
    ),
  ).toBe(375_000);
  expect(priceOf(openai, "gpt-4o").costOf(counts(1_000, 0, { cache_write_tokens: 1_000 }))).toBe(
    2_500,
  );
});

test("a cost is rounded up to whole micro-dollars", () => {
  const { costOf } = priceOf(openai, "gpt-4o-mini");
  expect(costOf(counts(1, 0))).toBe(1);
  expect(costOf(counts(20, 0))).toBe(3);
  expect(costOf(counts(21, 0))).toBe(4);
  expect(costOf(counts(0, 0))).toBe(0);
});

test("long input has the price of its tier, also for the output", () => {
  const { costOf } = priceOf(anthropic, "claude-sonnet-4-5");
  expect(costOf(counts(200_000, 1_000))).toBe(600_000 + 15_000);
  expect(costOf(counts(200_001, 1_000))).toBe(1_200_006 + 22_500);
  expect(costOf(counts(300_000, 0, { cached_input_tokens: 300_000 }))).toBe(180_000);
});

test("reasoning tokens with a price of their own cost that", () => {
  const { costOf } = priceOf("https://api.perplexity.ai", "sonar-deep-research");
  expect(costOf(counts(0, 1_000))).toBe(8_000);
  expect(costOf(counts(0, 1_000, { reasoning_tokens: 1_000 }))).toBe(3_000);
});

test("a price per call is part of the cost of each call", () => {
  const { costOf, show } = priceOf("https://api.perplexity.ai", "sonar");
  expect(costOf(counts(1_000, 1_000))).toBe(2_000 + 12_000);
  expect(show()?.call_micros).toBe(12_000);
});

test("implausible parts do not make a price fail", () => {
  const parts = { cached_input_tokens: 50, cache_write_tokens: 50, reasoning_tokens: 50 };
  expect(priceOf(anthropic, "claude-sonnet-4-5").costOf(counts(10, 10, parts))).toBe(3 + 150);
});

test("a model that the library lists without a price is unknown, and not free", () => {
  const listed = calcPrice({ input_tokens: 1_000 }, "qwen-3-coder-480b", {
    providerId: "cerebras",
  });
  expect(listed?.total_price).toBe(0);
  const price = priceOf("https://api.cerebras.ai/v1", "qwen-3-coder-480b");
  expect([price.costOf(counts(1_000, 0)), price.show()]).toEqual([null, null]);
});

test("a price is shown in micro-dollars for 1,000,000 tokens, with its tiers", () => {
  expect(priceOf(openai, "gpt-4o").show()).toEqual({
    input_micros_per_million: 2_500_000,
    output_micros_per_million: 10_000_000,
    cached_input_micros_per_million: 1_250_000,
    cache_write_micros_per_million: null,
    call_micros: 0,
    tiers: [],
  });
  expect(priceOf(anthropic, "claude-sonnet-4-5").show()).toMatchObject({
    input_micros_per_million: 3_000_000,
    cache_write_micros_per_million: 3_750_000,
    tiers: [
      {
        above_input_tokens: 200_000,
        input_micros_per_million: 6_000_000,
        output_micros_per_million: 22_500_000,
        cached_input_micros_per_million: 600_000,
        cache_write_micros_per_million: 7_500_000,
      },
    ],
  });
});

/** Vendors, each with the address of its API. The tests below use all their models. */
const vendors = [
  ["openai", openai],
  ["anthropic", anthropic],
  ["google", google],
  ["openrouter", "https://openrouter.ai/api/v1"],
  ["deepseek", "https://api.deepseek.com"],
  ["mistral", "https://api.mistral.ai/v1"],
  ["perplexity", "https://api.perplexity.ai"],
  ["x-ai", "https://api.x.ai/v1"],
] as const;
const models = vendors.flatMap(([providerId, baseUrl]) =>
  (findProvider({ providerId })?.models ?? []).map(({ id }) => ({ providerId, baseUrl, id })),
);

test("costs are those that the library computes, rounded up", () => {
  const count = fc.oneof(fc.nat(100), fc.nat(400_000), fc.nat(1_000_000_000));
  const compared = new Set<string>();
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.tuple(count, count, count, count, count),
      ({ providerId, baseUrl, id }, [plain, cached, written, said, reasoning]) => {
        const cost = findLibraryPrice(baseUrl, id)?.costOf(
          counts(plain + cached + written, said + reasoning, {
            cached_input_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: reasoning,
          }),
        );
        if (cost === undefined || cost === null) return;
        compared.add(providerId);
        const usage = {
          input_tokens: plain + cached + written,
          cache_read_tokens: cached,
          cache_write_tokens: written,
          output_tokens: said + reasoning,
          output_reasoning_tokens: reasoning,
        };
        const micros = (calcPrice(usage, id, { providerId })?.total_price ?? 0) * 1_000_000;
        // The library's sum is not exact, because it adds floating-point numbers.
        const error = micros * 1e-8 + 1e-9;
        expect(cost).toBeGreaterThanOrEqual(micros - error);
        expect(cost).toBeLessThan(micros + 1 + error);
      },
    ),
    { numRuns: 3_000 },
  );
  expect(compared.size).toBe(vendors.length);
});

test("reasoning costs at most as much as other output, as reservations take for granted", () => {
  for (const { baseUrl, id } of models)
    for (const input of [0, 1_000_000]) {
      const costOf = (reasoning_tokens: number) =>
        findLibraryPrice(baseUrl, id)?.costOf(counts(input, 1_000_000, { reasoning_tokens })) ?? 0;
      expect(costOf(1_000_000), id).toBeLessThanOrEqual(costOf(0));
    }
});

describe("a price that depends on the time", () => {
  afterEach(() => void vi.useRealTimers());
  const hour = 3_600_000;

  test("costs the highest of a time span, if one is given", () => {
    const { costOf } = priceOf("https://api.deepseek.com", "deepseek-v4-flash");
    const million = counts(0, 1_000_000);
    // The price is higher from 01:00 to 04:00 and from 06:00 to 10:00.
    vi.setSystemTime("2026-11-23T23:30:00Z");
    expect([costOf(million), costOf(million, hour)]).toEqual([660_000, 660_000]);
    expect(costOf(million, 2 * hour)).toBe(1_320_000);
    vi.setSystemTime("2026-11-24T03:30:00Z");
    expect([costOf(million), costOf(million, 2 * hour)]).toEqual([1_320_000, 1_320_000]);
    vi.setSystemTime("2026-11-24T04:00:00Z");
    expect([costOf(million), costOf(million, 2 * hour)]).toEqual([660_000, 1_320_000]);
  });

  test("never costs more than the highest of a time span that contains the time", () => {
    const varying = models.filter(({ providerId, id }) =>
      Array.isArray(calcPrice({}, id, { providerId })?.model.prices),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...varying),
        fc.date({ min: new Date("2025-01-01"), max: new Date("2027-12-31"), noInvalidDate: true }),
        fc.nat(24 * hour),
        fc.nat(24 * hour),
        ({ baseUrl, id }, start, one, other) => {
          const { costOf } = priceOf(baseUrl, id);
          const usage = counts(300_000, 1_000_000);
          const [passed, span] = [Math.min(one, other), Math.max(one, other)];
          vi.setSystemTime(start);
          const highest = costOf(usage, span);
          vi.setSystemTime(start.getTime() + passed);
          if (highest !== null) expect(highest).toBeGreaterThanOrEqual(costOf(usage) ?? Infinity);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

test("a cost that is whole is not rounded up to the next number", () => {
  const usage = { input_tokens: 80, output_tokens: 20, cache_read_tokens: 40 };
  const computed = calcPrice(usage, "gpt-4o-mini", { providerId: "openai" })?.total_price ?? 0;
  expect(Math.ceil(computed * 1_000_000)).toBe(22);
  const { costOf } = priceOf(openai, "gpt-4o-mini");
  expect(costOf(counts(80, 20, { cached_input_tokens: 40 }))).toBe(21);
});
