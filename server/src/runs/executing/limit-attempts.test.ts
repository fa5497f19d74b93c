import { agentConfig, createAgentBody } from "@beckon/contract";
import { afterEach, expect, test, vi } from "vitest";
import { PriceTable, readOperatorPrices } from "../../prices/index.ts";
import { noAmounts } from "../../reservations/index.ts";
import { limitAttempts } from "./limit-attempts.ts";

afterEach(() => void vi.useRealTimers());

test("a call is limited by the highest price at which it can end", async () => {
  const model = "deepseek/deepseek-v4-flash";
  const priceOf = new PriceTable(await readOperatorPrices(undefined)).pricer({
    name: model,
    baseUrl: "https://api.deepseek.com",
  });
  const limitOf = async (timeout_seconds: number) => {
    const limits = { timeout_seconds, max_cost_micros: 10_000, reserve_output_tokens: 100_000 };
    const limit = limitAttempts(
      { revision: () => undefined, reserve: () => Promise.reject(new Error("not limited")) },
      {
        run: { runId: "run_1", workspaceId: "wsp_1" },
        config: agentConfig.parse(createAgentBody.parse({ name: "Test", model, limits })),
        priceOf,
      },
    );
    const attempt = { bytes: () => 100, earlier: [], runCostMicros: () => 0 };
    const limited = await limit(attempt, new AbortController().signal);
    expect(limited?.isReserved).toBe(false);
    return limited?.maxOutputTokens ?? 0;
  };
  // The price doubles at 01:00.
  vi.setSystemTime("2026-11-24T00:59:00Z");
  const [before, during] = [await limitOf(30), await limitOf(120)];
  const costOf = (output_tokens: number) =>
    priceOf({ input_tokens: 100, output_tokens, cached_input_tokens: 0 }).micros;
  expect(costOf(before)).toBe(10_000);
  vi.setSystemTime("2026-11-24T01:00:00Z");
  expect(costOf(during)).toBe(10_000);
});

test("a reservation covers the next attempt until limits change", async () => {
  let revision = 1;
  const granted = {
    kind: "granted",
    outputTokens: 100,
    loweredBy: undefined,
    amounts: noAmounts,
    isLimited: true,
  } as const;
  const model = "vendor/model";
  const limit = limitAttempts(
    { revision: () => revision, reserve: () => Promise.resolve(granted) },
    {
      run: { runId: "run_1", workspaceId: "wsp_1" },
      config: agentConfig.parse(createAgentBody.parse({ name: "Test", model })),
      priceOf: () => ({ micros: 1, standardMicros: null, origin: "workspace" }),
    },
  );
  const attempt = { bytes: () => 100, earlier: [], runCostMicros: () => 0 };
  const limited = await limit(attempt, new AbortController().signal);
  expect(limited).toMatchObject({ isReserved: true });
  expect(limited?.coversNext()).toBe(true);
  revision = 2;
  expect(limited?.coversNext()).toBe(false);
});
