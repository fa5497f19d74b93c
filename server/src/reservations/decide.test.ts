import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Amounts, amountIn, type Budget, noAmounts } from "./budget.ts";
import { type Decision, decide, type ReservationRequest, type WaitingRun } from "./decide.ts";
import { fitInto, minOutputTokens } from "./fit.ts";

const tokens = (count: number): Amounts => ({ ...noAmounts, tokens: count });
const cost = (micros: number | null): Amounts => ({
  ...noAmounts,
  costMicros: micros,
  planCostMicros: micros,
});

const budget = (id: number, of: Partial<Budget> = {}): Budget => ({
  id,
  scope: "agent",
  scopeId: `agt_${id}`,
  metric: "cost",
  allowed: 1_000,
  spent: 0,
  reserved: 0,
  resetsAt: "2026-01-02T00:00:00.000Z",
  ...of,
});

/** A call that costs 1 micro-dollar for each output token, and `base` for its input. */
const call = (maxOutputTokens: number, base = 0, used = noAmounts) => ({
  maxOutputTokens,
  amountsOf: (count: number) => cost(base + count),
  used,
});

const request = (
  runId: string,
  budgetIds: readonly number[],
  more: Partial<ReservationRequest> = {},
): ReservationRequest => ({ runId, budgetIds, call: call(300), ...more });

const waits = (runId: string, askedAt: number, of: Partial<WaitingRun> = {}): WaitingRun => ({
  runId,
  askedAt,
  budgetIds: [1],
  asked: cost(300),
  blockedAt: [1],
  held: { amounts: noAmounts, in: [] },
  ...of,
});

const kinds = (decisions: readonly Decision[]) => decisions.map(({ kind }) => kind);

describe("a call", () => {
  test("gets what it asks for if all its limits have that much left", () => {
    expect(fitInto([budget(1), budget(2, { allowed: 300 })], call(300))).toEqual({
      kind: "fits",
      outputTokens: 300,
      loweredBy: undefined,
    });
  });

  test("gets as many output tokens as the smallest rest of its limits pays", () => {
    const limits = [budget(1, { allowed: 800, spent: 200 }), budget(2, { allowed: 450 })];
    expect(fitInto(limits, call(1_000, 50))).toEqual({
      kind: "fits",
      outputTokens: 400,
      loweredBy: limits[1],
    });
  });

  test(`is not made if fewer than ${minOutputTokens} output tokens are left`, () => {
    const limits = [budget(1, { allowed: 1_000, spent: 700 })];
    expect(fitInto(limits, call(1_000, 44)).kind).toBe("fits");
    expect(fitInto(limits, call(1_000, 45))).toEqual({
      kind: "spent",
      limit: limits[0],
      isUsedUp: true,
      needed: minOutputTokens + 45,
      left: 300,
    });
  });

  test("that is rejected only because its input is large does not use up the limit", () => {
    // Each token costs 3 micro-dollars. `isUsedUp` depends on the cost of a call with 32,768 tokens
    // of input and 256 of output, which is 99,072 micro-dollars.
    const large = {
      maxOutputTokens: 1_000,
      amountsOf: (count: number) => ({
        ...cost(3 * (1_000_000 + count)),
        tokens: 1_000_000 + count,
      }),
      used: noAmounts,
    };
    const rejection = (allowed: number) => fitInto([budget(1, { allowed })], large);
    expect(rejection(100_000)).toMatchObject({ kind: "spent", isUsedUp: false });
    expect(rejection(99_000)).toMatchObject({ kind: "spent", isUsedUp: true });
  });

  test("that needs fewer output tokens is made if these are left", () => {
    expect(fitInto([budget(1, { allowed: 10 })], call(10)).kind).toBe("fits");
    expect(fitInto([budget(1, { allowed: 9 })], call(10)).kind).toBe("spent");
  });

  test("that costs nothing is made whatever is spent", () => {
    const free = { maxOutputTokens: 300, amountsOf: () => cost(0), used: noAmounts };
    expect(fitInto([budget(1, { allowed: 100, spent: 500 })], free).kind).toBe("fits");
  });

  test("without a price is not made if a limit in money applies", () => {
    const unknown = {
      maxOutputTokens: 300,
      amountsOf: () => ({ ...tokens(1), costMicros: null, planCostMicros: null }),
      used: noAmounts,
    };
    expect(fitInto([budget(1)], unknown).kind).toBe("price_unknown");
    expect(fitInto([budget(1, { metric: "tokens" })], unknown).kind).toBe("fits");
    expect(fitInto([budget(1, { allowed: null })], unknown).kind).toBe("fits");
  });

  test("counts for a plan by its standard price", () => {
    const free = {
      maxOutputTokens: 300,
      amountsOf: (count: number) => ({ ...noAmounts, planCostMicros: count }),
      used: noAmounts,
    };
    expect(fitInto([budget(1, { scope: "plan", allowed: 299 })], free)).toMatchObject({
      outputTokens: 299,
    });
    expect(fitInto([budget(1, { scope: "workspace", allowed: 299 })], free)).toMatchObject({
      outputTokens: 300,
    });
  });
});

describe("runs that ask", () => {
  test("reserve in the order in which they ask, and the others wait", () => {
    const { decisions, reserved } = decide(
      [budget(1)],
      [],
      ["a", "b", "c", "d", "e"].map((id) => request(id, [1])),
    );
    expect(kinds(decisions)).toEqual(["granted", "granted", "granted", "waits", "waits"]);
    expect(reserved.get(1)).toBe(900);
  });

  test("do not overtake one that waits for the same budget, even if they need less", () => {
    const { decisions } = decide(
      [budget(1, { reserved: 800 })],
      [waits("first", 1)],
      [request("small", [1], { call: call(10) })],
    );
    expect(kinds(decisions)).toEqual(["waits"]);
  });

  test("overtake one that waits for another budget only", () => {
    const { decisions } = decide(
      [budget(1), budget(2, { reserved: 1_000 })],
      [],
      [request("of agent 2", [1, 2]), request("of agent 3", [1])],
    );
    expect(kinds(decisions)).toEqual(["waits", "granted"]);
    expect(decisions[0]).toMatchObject({ blockedAt: [2] });
  });

  test("overtake one that also waits for a budget that does not concern them", () => {
    const { decisions } = decide(
      [budget(1)],
      [waits("of agent 2", 1, { blockedAt: [1, 2] })],
      [request("of agent 3", [1])],
    );
    expect(kinds(decisions)).toEqual(["granted"]);
  });

  test("leave to earlier ones what these can reserve as soon as they ask", () => {
    const { decisions } = decide(
      [budget(1, { reserved: 500 })],
      [waits("first", 1)],
      [request("second", [1], { call: call(256) }), request("third", [1], { call: call(200) })],
    );
    expect(kinds(decisions)).toEqual(["waits", "waits"]);
    expect(
      kinds(
        decide(
          [budget(1, { reserved: 500 })],
          [waits("first", 1)],
          [request("second", [1], { call: call(200) })],
        ).decisions,
      ),
    ).toEqual(["granted"]);
  });

  test("get their turn by the time of their first request", () => {
    const { decisions } = decide(
      [budget(1, { reserved: 700 })],
      [],
      [
        request("new", [1]),
        request("later", [1], { askedAt: 2 }),
        request("earlier", [1], { askedAt: 1 }),
      ],
    );
    expect(kinds(decisions)).toEqual(["waits", "waits", "granted"]);
  });

  test("are rejected by what is spent, not by what is reserved", () => {
    const { decisions } = decide(
      [budget(1, { spent: 800, reserved: 200 })],
      [],
      [request("a", [1])],
    );
    expect(decisions[0]).toMatchObject({ kind: "spent", limit: { spent: 800 } });
  });

  test("replace what they held before", () => {
    const held = { amounts: cost(400), in: [1] };
    const { decisions, reserved } = decide(
      [budget(1, { reserved: 1_000 })],
      [],
      [request("a", [1], { held, call: call(300) })],
    );
    expect(kinds(decisions)).toEqual(["granted"]);
    expect(reserved.get(1)).toBe(900);
  });

  test("keep what failed attempts used while they wait", () => {
    const held = { amounts: cost(400), in: [1] };
    const { decisions, reserved } = decide(
      [budget(1, { reserved: 900 })],
      [],
      [request("a", [1], { held, call: call(500, 0, cost(100)) })],
    );
    expect(kinds(decisions)).toEqual(["waits"]);
    expect(reserved.get(1)).toBe(600);
  });

  test("do not wait for what other waiting runs keep, since it will be spent", () => {
    const keeps = waits("other", 1, { held: { amounts: cost(800), in: [1] }, asked: cost(100) });
    const { decisions } = decide(
      [budget(1, { reserved: 800 })],
      [keeps],
      [request("a", [1], { call: call(300) })],
    );
    expect(kinds(decisions)).toEqual(["spent"]);
  });
});

/**
 * A simulation of the database in memory: the budgets, what runs hold in them, and the queue.
 * Random sequences of steps change it.
 */
interface Simulated {
  readonly budgets: Map<number, Budget>;
  readonly held: Map<string, { amounts: Amounts; in: readonly number[] }>;
  readonly waiting: Map<string, WaitingRun & { readonly request: ReservationRequest }>;
  readonly served: string[];
}

const budgetIds = [1, 2, 3];
const step = fc.oneof(
  fc.record({
    do: fc.constant("ask" as const),
    runs: fc.array(
      fc.record({
        budgetIds: fc.subarray(budgetIds, { minLength: 1 }),
        max: fc.integer({ min: 1, max: 700 }),
        base: fc.integer({ min: 0, max: 200 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ do: fc.constant("return" as const), index: fc.nat(), share: fc.nat({ max: 100 }) }),
  fc.record({ do: fc.constant("poll" as const), share: fc.nat({ max: 100 }) }),
);

describe("for random sequences of requests and returns", () => {
  const allowed = fc.array(fc.integer({ min: 300, max: 3_000 }), { minLength: 3, maxLength: 3 });

  test("what is spent and reserved never exceeds a limit, and nobody is overtaken", () => {
    fc.assert(
      fc.property(allowed, fc.array(step, { maxLength: 60 }), (limits, steps) => {
        const world = simulated(limits);
        let clock = 0;
        for (const each of steps) {
          clock += 1;
          if (each.do === "ask")
            ask(
              world,
              each.runs.map(({ max, base, budgetIds: ids }, index) =>
                request(`run ${clock} ${index}`, ids, { call: call(max, base) }),
              ),
              clock,
            );
          else if (each.do === "return") chargeAndReturn(world, each.index, each.share / 100);
          else {
            const waiting = [...world.waiting.values()];
            const count = Math.ceil((waiting.length * each.share) / 100);
            ask(
              world,
              waiting.slice(0, count).map(({ request: again, askedAt }) => ({ ...again, askedAt })),
              clock,
            );
          }
          checkSums(world);
        }
        // When everything that is held has been returned, every waiting run must be served or
        // rejected in the end.
        for (let round = 0; world.waiting.size + world.held.size > 0; round++) {
          expect(round).toBeLessThan(1_000);
          while (world.held.size > 0) chargeAndReturn(world, 0, 0);
          const waiting = [...world.waiting.values()];
          ask(
            world,
            waiting.map(({ request: again, askedAt }) => ({ ...again, askedAt })),
            clock,
          );
          checkSums(world);
        }
      }),
    );
  });

  function simulated(limits: readonly number[]): Simulated {
    return {
      budgets: new Map(
        budgetIds.map((id, index) => [id, budget(id, { allowed: limits[index] ?? 0 })]),
      ),
      held: new Map(),
      waiting: new Map(),
      served: [],
    };
  }

  function ask(world: Simulated, requests: readonly ReservationRequest[], clock: number): void {
    if (requests.length === 0) return;
    const asking = new Set(requests.map(({ runId }) => runId));
    const others = [...world.waiting.values()].filter(({ runId }) => !asking.has(runId));
    const { decisions, reserved } = decide([...world.budgets.values()], others, requests);
    for (const [id, amount] of reserved) {
      const old = world.budgets.get(id);
      if (old !== undefined) world.budgets.set(id, { ...old, reserved: amount });
    }
    // Decisions are taken in the order in which the runs first asked, which is not the order of the
    // requests. The checks follow the same order.
    const turns = requests
      .map((asked, index) => ({ asked, decision: decisions[index] }))
      .sort((a, b) => (a.asked.askedAt ?? clock) - (b.asked.askedAt ?? clock));
    for (const { asked, decision } of turns) {
      if (decision === undefined) continue;
      const before = world.waiting.get(asked.runId);
      world.waiting.delete(asked.runId);
      if (decision.kind === "granted") {
        world.held.set(asked.runId, { amounts: decision.amounts, in: asked.budgetIds });
        checkTurn(world, asked, before?.askedAt ?? Number.POSITIVE_INFINITY, decision.amounts);
      } else if (decision.kind === "waits")
        world.waiting.set(asked.runId, {
          runId: asked.runId,
          askedAt: before?.askedAt ?? clock,
          budgetIds: asked.budgetIds,
          asked: decision.asked,
          blockedAt: decision.blockedAt,
          held: { amounts: noAmounts, in: [] },
          request: asked,
        });
    }
  }

  /**
   * Expects that a run has overtaken no run that asked earlier. It has overtaken an earlier run if
   * both need the same budget, and the earlier one would fit if this one had reserved nothing.
   */
  function checkTurn(
    world: Simulated,
    { budgetIds: ids }: ReservationRequest,
    askedAt: number,
    amounts: Amounts,
  ): void {
    const fits = (other: WaitingRun, isReturned: boolean) =>
      other.budgetIds.every((id) => {
        const state = world.budgets.get(id);
        if (state === undefined) return false;
        const share = isReturned && ids.includes(id) ? (amountIn(state, amounts) ?? 0) : 0;
        const free = (state.allowed ?? 0) - state.spent - state.reserved + share;
        return (amountIn(state, other.asked) ?? 0) <= free;
      });
    const overtaken = [...world.waiting.values()].filter(
      (other) =>
        other.askedAt < askedAt &&
        other.blockedAt.some((id) => ids.includes(id)) &&
        fits(other, true) &&
        !fits(other, false),
    );
    expect(overtaken).toEqual([]);
  }

  /** Charges a part of what a run holds (`share`, 0 to 1), and returns the rest to the budgets. */
  function chargeAndReturn(world: Simulated, index: number, share: number): void {
    const [runId, held] = [...world.held][index % Math.max(1, world.held.size)] ?? [];
    if (runId === undefined || held === undefined) return;
    world.held.delete(runId);
    for (const id of held.in) {
      const state = world.budgets.get(id);
      if (state === undefined) continue;
      const amount = amountIn(state, held.amounts) ?? 0;
      world.budgets.set(id, {
        ...state,
        reserved: state.reserved - amount,
        spent: state.spent + Math.floor(amount * share),
      });
    }
  }

  function checkSums({ budgets, held }: Simulated): void {
    for (const state of budgets.values()) {
      const sum = [...held.values()]
        .filter((each) => each.in.includes(state.id))
        .reduce((total, { amounts }) => total + (amountIn(state, amounts) ?? 0), 0);
      expect(state.reserved).toBe(sum);
      expect(state.spent + state.reserved).toBeLessThanOrEqual(state.allowed ?? 0);
    }
  }
});
