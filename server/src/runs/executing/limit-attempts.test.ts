import { agentConfig, createAgentBody } from "@beckon/contract";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LimitStop, RunStopped, type StopReason } from "../../engine/index.ts";
import { PriceTable, readOperatorPrices } from "../../prices/index.ts";
import {
  type Amounts,
  type AskingRun,
  type Limit,
  noAmounts,
  type Reserved,
} from "../../reservations/index.ts";
import { type FirstCall, FirstCalls } from "./first-calls.ts";
import { limitAttempts } from "./limit-attempts.ts";

afterEach(() => void vi.useRealTimers());

const run = { runId: "run_1", workspaceId: "wsp_1", owner: "prc_1", fence: 1 };

const firstAttempt = { bytes: () => 100, isFirst: true, earlier: [], runCostMicros: () => 0 };

const granted = {
  kind: "granted",
  outputTokens: 100,
  loweredBy: undefined,
  isRestricted: true,
  amounts: noAmounts,
  isLimited: true,
} as const;

test("a call is limited by the highest price at which it can end", async () => {
  const model = "deepseek/deepseek-v4-flash";
  const priceOf = new PriceTable(await readOperatorPrices(undefined)).pricer({
    name: model,
    baseUrl: "https://api.deepseek.com",
  });
  const limitOf = async (timeout_seconds: number) => {
    const limits = { timeout_seconds, max_cost_micros: 10_000, reserve_output_tokens: 100_000 };
    const limit = limitAttempts(
      {
        reservations: {
          revision: () => undefined,
          reserve: () => Promise.reject(new Error("not limited")),
        },
        firstCalls: { note() {} },
      },
      {
        run,
        config: agentConfig.parse(createAgentBody.parse({ name: "Test", model, limits })),
        priceOf,
      },
    );
    const limited = await limit(firstAttempt, new AbortController().signal);
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
  const model = "vendor/model";
  const limit = limitAttempts(
    {
      reservations: { revision: () => revision, reserve: () => Promise.resolve(granted) },
      firstCalls: { note() {} },
    },
    {
      run,
      config: agentConfig.parse(createAgentBody.parse({ name: "Test", model })),
      priceOf: () => ({ micros: 1, standardMicros: null, origin: "workspace" }),
    },
  );
  const limited = await limit(firstAttempt, new AbortController().signal);
  expect(limited).toMatchObject({ isReserved: true });
  expect(limited?.coversNext()).toBe(true);
  revision = 2;
  expect(limited?.coversNext()).toBe(false);
});

test("a run that another process owns by now is stopped before its call, as by its journal", async () => {
  const reservations = { revision: () => 1, reserve: async () => ({ kind: "fenced" }) as const };
  const limit = limitAttempts(
    { reservations, firstCalls: { note() {} } },
    {
      run,
      config: agentConfig.parse(createAgentBody.parse({ name: "Test", model: "vendor/model" })),
      priceOf: () => ({ micros: 1, standardMicros: null, origin: "workspace" }),
    },
  );
  await expect(limit(firstAttempt, new AbortController().signal)).rejects.toThrow(
    new RunStopped("fenced"),
  );
});

describe("a run whose next attempt does not fit into what is left until the limit resets", () => {
  const spent: Reserved = {
    kind: "spent",
    limit: {
      scope: "workspace",
      scopeId: "wsp_1",
      metric: "cost",
      allowed: 1_000,
      spent: 900,
      resetsAt: "2026-01-02T00:00:00.000Z",
    },
    needed: 300,
    left: 100,
    isUsedUp: true,
    isLimited: true,
  };

  /** Reserves twice for a run: before the first limit is set, and when its rest is too small. */
  async function reserveTwice(second: { isFirst?: boolean; isUsedUp?: boolean } = {}) {
    const { isFirst = true, isUsedUp = true } = second;
    let revision: number | undefined;
    let holds = 0;
    const limitAttempt = limitAttempts(
      {
        reservations: { revision: () => revision, reserve: async () => ({ ...spent, isUsedUp }) },
        firstCalls: { note() {} },
      },
      {
        run,
        config: agentConfig.parse(createAgentBody.parse({ name: "Test", model: "vendor/model" })),
        priceOf: () => ({ micros: 1, standardMicros: null, origin: "workspace" }),
        holdRun: async () => void holds++,
      },
    );
    const { signal } = new AbortController();
    expect(limitAttempt(firstAttempt, signal)).toBeUndefined();
    revision = 1;
    const thrown = await limitAttempt({ ...firstAttempt, isFirst }, signal)?.catch(
      (reason: unknown) => reason,
    );
    expect(thrown).toBeInstanceOf(LimitStop);
    return { thrown, holds };
  }

  test("is held as long as no attempt was sent, however often it has reserved", async () => {
    expect(await reserveTwice()).toMatchObject({ holds: 1 });
    expect(await reserveTwice({ isFirst: false })).toMatchObject({ holds: 0 });
  });

  test("is also held if calls with less input would fit, and its error says what is left", async () => {
    const { thrown, holds } = await reserveTwice({ isUsedUp: false });
    expect(holds).toBe(1);
    const message = expect.stringContaining("cost up to $0.0003, more than the $0.0001 that are");
    expect(thrown).toMatchObject({ end: { error: { code: "ceiling_reached", message } } });
  });
});

describe("a run that waited for a limit, and whose deadline passes while it asks again,", () => {
  const limit: Limit = {
    scope: "workspace",
    scopeId: "wsp_1",
    metric: "cost",
    allowed: 1_000,
    spent: 0,
    resetsAt: null,
  };

  /** Lets a run wait for a limit, stops it, and gives it `result`. */
  async function askLate(
    result: Reserved,
    { stop = "deadline", waits = true }: { stop?: StopReason; waits?: boolean } = {},
  ) {
    const stopped = new AbortController();
    const reservations = {
      revision: () => 1,
      async reserve(_run: AskingRun, _signal: AbortSignal, onWait?: (limit: Limit) => void) {
        if (waits) onWait?.(limit);
        stopped.abort(new RunStopped(stop));
        return result;
      },
    };
    let holds = 0;
    const limitAttempt = limitAttempts(
      { reservations, firstCalls: { note() {} } },
      {
        run,
        config: agentConfig.parse(createAgentBody.parse({ name: "Test", model: "vendor/model" })),
        priceOf: () => ({ micros: 1, standardMicros: null, origin: "workspace" }),
        holdRun: async () => void holds++,
      },
    );
    const thrown = await limitAttempt(firstAttempt, stopped.signal)?.catch(
      (reason: unknown) => reason,
    );
    return { thrown, holds };
  }

  test.each([[granted], [{ kind: "unlimited", isLimited: false } as const]])(
    "is held, or fails as at the end of a wait, although its call is now possible: $kind",
    async (result) => {
      const { thrown, holds } = await askLate(result);
      expect(holds).toBe(1);
      expect(thrown).toBeInstanceOf(LimitStop);
      expect(thrown).toMatchObject({ end: { error: { code: "deadline_exceeded" } } });
    },
  );

  test("fails with the result if its call is not possible", async () => {
    const { thrown, holds } = await askLate({
      kind: "spent",
      limit,
      needed: 2_000,
      left: 1_000,
      isUsedUp: false,
      isLimited: true,
    });
    expect(holds).toBe(0);
    expect(thrown).toMatchObject({ end: { error: { code: "ceiling_reached" } } });
  });

  test("is not held if it was cancelled instead, or has not waited", async () => {
    expect(await askLate(granted, { stop: "cancelled" })).toMatchObject({ holds: 0 });
    expect(await askLate(granted, { waits: false })).toMatchObject({ holds: 0 });
  });
});

describe("the first call of a run", () => {
  const model = "vendor/model";
  const messageOf = (bytes: number) => ({ kind: "caller agent_1", messageBytes: bytes });

  /** A process in which the runs of one workspace have a limit with this revision. */
  function createProcess(revision: { of: number }) {
    const asked: Amounts[] = [];
    const reservations = {
      revision: () => revision.of,
      reserve: ({ call }: { call: { amountsOf: (tokens: number) => Amounts } }) => {
        const amounts = call.amountsOf(1_000);
        asked.push(amounts);
        const kind = "granted" as const;
        return Promise.resolve({
          kind,
          outputTokens: 1_000,
          loweredBy: undefined,
          isRestricted: true,
          amounts,
          isLimited: true,
        });
      },
    };
    return { asked, reservations, firstCalls: new FirstCalls(reservations) };
  }

  /** Lets a run make its first call, whose request has this many bytes. */
  async function call(
    ports: ReturnType<typeof createProcess>,
    bytes: number,
    firstCall: FirstCall,
    limits = {},
  ) {
    const limit = limitAttempts(ports, {
      run: { ...run, firstCall },
      config: agentConfig.parse(
        createAgentBody.parse({
          name: "Test",
          model,
          model_settings: { max_output_tokens: 1_000 },
          limits,
        }),
      ),
      priceOf: ({ input_tokens, output_tokens }) => ({
        micros: input_tokens + output_tokens,
        standardMicros: null,
        origin: "workspace",
      }),
    });
    const attempt = { ...firstAttempt, bytes: () => bytes };
    return { limit, attempt, limited: await limit(attempt, new AbortController().signal) };
  }

  test("is predicted from the call of the run before", async () => {
    const ports = createProcess({ of: 1 });
    const { firstCalls } = ports;
    expect(firstCalls.predict(messageOf(50))).toBeUndefined();
    await call(ports, 1_000, { ...messageOf(20), reserved: undefined });
    expect(firstCalls.predict(messageOf(50))).toMatchObject({
      amounts: { costMicros: 2_030, planCostMicros: 2_030, tokens: 2_030 },
      revision: 1,
    });
    expect(firstCalls.predict({ ...messageOf(50), kind: "caller agent_2" })).toBeUndefined();
  });

  test("needs no reservation of its own if enough was reserved with the start", async () => {
    const ports = createProcess({ of: 1 });
    const reserved = { amounts: costing(2_000), revision: 1, isRestricted: true };
    const { limit, attempt, limited } = await call(ports, 1_000, { ...messageOf(20), reserved });
    expect(ports.asked).toEqual([]);
    expect(limited).toMatchObject({ isReserved: true, maxOutputTokens: 1_000 });
    // What was reserved with the start is used up by the first call.
    await limit(attempt, new AbortController().signal);
    expect(ports.asked).toEqual([costing(2_000)]);
  });

  test("reserves again if too little was reserved with the start", async () => {
    const ports = createProcess({ of: 1 });
    const reserved = { amounts: costing(1_999), revision: 1, isRestricted: true };
    await call(ports, 1_000, { ...messageOf(20), reserved });
    expect(ports.asked).toEqual([costing(2_000)]);
  });

  test("reserves again if limits have changed since the start", async () => {
    const ports = createProcess({ of: 2 });
    const reserved = { amounts: costing(2_000), revision: 1, isRestricted: true };
    await call(ports, 1_000, { ...messageOf(20), reserved });
    expect(ports.asked).toEqual([costing(2_000)]);
  });

  test("has no output bound of a limit if only unlimited amounts apply", async () => {
    const ports = createProcess({ of: 1 });
    const reserved = { amounts: costing(2_000), revision: 1, isRestricted: false };
    const first = { ...messageOf(20), reserved };
    const { limited } = await call(ports, 1_000, first);
    expect(limited).toMatchObject({ isReserved: true, maxOutputTokens: undefined });
    const own = await call(ports, 1_000, first, { max_cost_micros: 2_000 });
    expect(own.limited).toMatchObject({ isReserved: true, maxOutputTokens: 1_000 });
    expect(ports.asked).toEqual([]);
  });

  test("is also limited by the run's own limit", async () => {
    const ports = createProcess({ of: 1 });
    const reserved = { amounts: costing(2_000), revision: 1, isRestricted: true };
    const first = { ...messageOf(20), reserved };
    const { limited } = await call(ports, 500, first, { max_cost_micros: 1_400 });
    expect(limited).toMatchObject({ isReserved: true, maxOutputTokens: 900 });
    await expect(call(ports, 500, first, { max_cost_micros: 500 })).rejects.toThrow(LimitStop);
    expect(ports.asked).toEqual([]);
  });

  const costing = (micros: number): Amounts => ({
    ...noAmounts,
    costMicros: micros,
    planCostMicros: micros,
    tokens: micros,
  });
});
