import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ModelFailure } from "../model-failure.ts";
import { type CircuitPolicy, circuitPolicy, type Pass } from "./circuit.ts";
import { type Circuit, type CircuitKey, createCircuits } from "./circuits.ts";

const failure = new ModelFailure("The connection failed.", { retryable: true, unreachable: true });
const policy: CircuitPolicy = {
  failureThreshold: 3,
  basePauseMs: 100,
  maxPauseMs: 1_600,
  lastAttemptMs: 400,
  maxWaiting: 40,
  minSilentCalls: 50,
  maxSilenceMs: 500,
};
const key: CircuitKey = {
  owner: "A",
  provider: "shared",
  model: "m",
  origin: "https://models.example",
};
const forever = new AbortController().signal;
const never = Number.POSITIVE_INFINITY;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Replaces `Math.random`. The number 1 gives each pause its maximum length (smaller numbers shorten
 * it by up to half) and selects the call that began to wait last.
 */
const noRandomness = () => 1;

/**
 * Result of a call of `enter`: the pass or the reason of the rejection. Both are undefined while
 * the call waits.
 */
interface Asking {
  pass?: Pass;
  refused?: unknown;
}

function asking(
  circuit: Circuit,
  { signal = forever, endsAt = never, deadlineAt = never } = {},
): Asking {
  const state: Asking = {};
  void circuit.enter(signal, endsAt, deadlineAt).then(
    (pass) => {
      state.pass = pass;
    },
    (thrown) => {
      state.refused = thrown;
    },
  );
  return state;
}

const many = (circuit: Circuit, count: number, options = {}) =>
  Array.from({ length: count }, () => asking(circuit, options));
const passed = (asked: readonly Asking[]) => asked.filter(({ pass }) => pass !== undefined).length;
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

const circuitsWith = (
  changed: Partial<CircuitPolicy> = {},
  random = noRandomness,
  maxCircuits = 1_000,
) => createCircuits({ ...policy, ...changed }, { random, maxCircuits });
const alone = (changed: Partial<CircuitPolicy> = {}, random = noRandomness) =>
  circuitsWith(changed, random).of(key);

async function opened(circuit = alone()): Promise<Circuit> {
  for (let n = 0; n < policy.failureThreshold; n += 1)
    (await circuit.enter(forever, never)).failed(failure);
  return circuit;
}

async function isOpen(circuit: Circuit): Promise<boolean> {
  const stop = new AbortController();
  const probe = asking(circuit, { signal: stop.signal });
  await settle();
  stop.abort();
  probe.pass?.dropped();
  return probe.pass === undefined;
}

describe("a circuit", () => {
  it("allows calls until a number of consecutive calls failed, and restarts counting after an answer", async () => {
    const circuit = alone();
    for (const outcome of [
      "failed",
      "failed",
      "answered",
      "failed",
      "dropped",
      "failed",
    ] as const) {
      const pass = await circuit.enter(forever, never);
      if (outcome === "failed") pass.failed(failure);
      else pass[outcome]();
    }
    (await circuit.enter(forever, never)).failed(failure);
    expect(await isOpen(circuit)).toBe(true);
  });

  it.each(["fails", "hangs"])(
    "allows one call after each pause, which doubles up to its maximum, while each probe %s",
    async (how) => {
      const circuit = await opened();
      const started = Date.now();
      const asked = many(circuit, 7);
      const probedAt: number[] = [];
      while (probedAt.length < asked.length) {
        await settle(10);
        const before = probedAt.length;
        while (probedAt.length < passed(asked)) probedAt.push(Date.now() - started);
        expect(probedAt.length - before).toBeLessThanOrEqual(1);
        if (how === "fails") for (const { pass } of asked) pass?.failed(failure);
      }
      const pauses = probedAt.map((at, index) => at - (probedAt[index - 1] ?? 0));
      expect(pauses).toEqual([100, 200, 400, 800, 1_600, 1_600, 1_600]);
    },
  );

  it("allows the next call if a pause ends while no run waits", async () => {
    const circuit = await opened();
    await settle(5_000);
    const asked = many(circuit, 2);
    await settle();
    expect(asked.map(({ pass }) => pass?.probe)).toEqual([true, undefined]);
  });

  it("allows all waiting calls, spread over time, once one call is answered", async () => {
    const circuit = await opened();
    const asked = many(circuit, 3);
    await settle(100);
    expect(passed(asked)).toBe(1);
    asked.find(({ pass }) => pass !== undefined)?.pass?.answered();
    await settle(1_000);
    expect(asked.map(({ pass }) => pass?.probe).sort()).toEqual([false, false, true]);
    expect(await isOpen(circuit)).toBe(false);
  });

  it("keeps calls waiting that were not started yet when it opens again", async () => {
    const circuit = await opened(alone({}, () => 0.99));
    const asked = many(circuit, 30);
    await settle(100);
    asked.find(({ pass }) => pass !== undefined)?.pass?.answered();
    await opened(circuit);
    await settle(90);
    expect(passed(asked)).toBe(1);
  });

  it("gives a probe that a run returns to each other waiting run in turn, without a pause", async () => {
    const circuit = await opened();
    const asked = many(circuit, 3);
    await settle(100);
    const probing = () => asked.filter(({ pass }) => pass !== undefined);
    for (let probes = 1; probes <= asked.length; probes += 1) {
      expect(probing()).toHaveLength(probes);
      for (const { pass } of probing()) pass?.returned();
      await settle();
    }
    // No run waits any more, so the next call is the probe.
    const next = asking(circuit);
    await settle();
    expect(next.pass?.probe).toBe(true);
    // One more probe is allowed, but only after a whole pause.
    const others = many(circuit, 3);
    await settle(350);
    expect(passed(others)).toBe(0);
    await settle(100);
    expect(passed(others)).toBe(1);
  });

  it("gives no further probe for one that is dropped", async () => {
    const circuit = await opened();
    const asked = many(circuit, 3);
    await settle(100);
    asked.find(({ pass }) => pass !== undefined)?.pass?.dropped();
    await settle(50);
    expect(passed(asked)).toBe(1);
  });

  it("closes on a late answer to an earlier call", async () => {
    const circuit = alone();
    const early = await circuit.enter(forever, never);
    await opened(circuit);
    const waits = asking(circuit);
    early.answered();
    await settle(10);
    expect(waits.pass).toBeDefined();
  });

  it("selects a random waiting run for each probe", async () => {
    const chances: number[] = [];
    const circuit = await opened(alone({}, () => chances.shift() ?? 1));
    // For each probe the circuit draws two numbers: one to select the run, one for the next pause.
    chances.push(0.5, 1, 0.1, 1, 0.9, 1);
    const asked = many(circuit, 5);
    const order: number[] = [];
    for (let probe = 0; probe < 3; probe += 1) {
      while (passed(asked) === probe) await settle(10);
      order.push(
        asked.findIndex(({ pass }, index) => pass !== undefined && !order.includes(index)),
      );
    }
    // The middle one of 0 1 2 3 4 is selected, then the first one of 0 1 3 4, then the last one of
    // 1 3 4.
    expect(order).toEqual([2, 0, 4]);
  });

  it("allows a run one attempt near its end, with a limit on concurrent attempts", async () => {
    const circuit = await opened(alone({ basePauseMs: 100_000, maxPauseMs: 100_000 }));
    const endsAt = performance.now() + 1_000;
    const asked = [...many(circuit, 3, { endsAt }), ...many(circuit, 3, { deadlineAt: endsAt })];
    await settle(590);
    expect(passed(asked)).toBe(0);
    await settle(20);
    expect(asked.map(({ pass }) => pass?.last)).toEqual([
      true,
      true,
      true,
      undefined,
      undefined,
      undefined,
    ]);
    asked[0]?.pass?.failed(failure);
    await settle();
    expect(passed(asked)).toBe(4);
    asked[1]?.pass?.answered();
    await settle(10);
    expect(passed(asked)).toBe(6);
  });

  it("leaves a run with little time half of it for its attempt", async () => {
    const circuit = await opened(alone({ basePauseMs: 100_000, maxPauseMs: 100_000 }));
    const hasty = asking(circuit, { endsAt: performance.now() + 100 });
    await settle(45);
    expect(hasty.pass).toBeUndefined();
    await settle(10);
    expect(hasty.pass).toMatchObject({ probe: true, last: true });
  });

  it("fails a waiting call at the end of its step, and stops it at the deadline of its run", async () => {
    const circuit = await opened(alone({ basePauseMs: 100_000, maxPauseMs: 100_000 }));
    const stop = new AbortController();
    const stopped = asking(circuit, { signal: stop.signal });
    const asked = many(circuit, policy.failureThreshold + 1, { endsAt: performance.now() + 100 });
    stop.abort("enough");
    await settle(110);
    expect(stopped.refused).toBe("enough");
    expect(asked.at(-1)?.refused).toMatchObject({ name: "ModelFailure", retryable: false });
    expect(String(asked.at(-1)?.refused)).toContain(
      "is down. Its last failure: The connection failed.",
    );
  });

  it("opens when many calls are in flight without any activity", async () => {
    const circuit = alone({ minSilentCalls: 2 });
    const first = await circuit.enter(forever, never);
    await circuit.enter(forever, never);
    await settle(policy.maxSilenceMs - 10);
    await circuit.enter(forever, never);
    await settle(20);
    const waits = asking(circuit);
    await settle();
    expect(waits.pass).toBeUndefined();
    first.answered();
    await settle(10);
    expect(waits.pass).toBeDefined();
  });

  it("does not open while a call in flight receives data, and counts its failure", async () => {
    const circuit = alone({ minSilentCalls: 1, failureThreshold: 1 });
    const streamed = await circuit.enter(forever, never);
    for (let elapsedMs = 0; elapsedMs < policy.maxSilenceMs * 2; elapsedMs += 100) {
      await settle(100);
      streamed.received();
    }
    const other = asking(circuit);
    await settle();
    expect(other.pass?.probe).toBe(false);
    streamed.failed(failure);
    expect(await isOpen(circuit)).toBe(true);
  });

  it("of a process with few runs opens when calls fail, and not because one answer is slow", async () => {
    const ofFewRuns = circuitPolicy(8);
    const circuit = alone(ofFewRuns);
    await circuit.enter(forever, never);
    await settle(ofFewRuns.maxSilenceMs + 10);
    const calls = many(circuit, ofFewRuns.failureThreshold);
    await settle();
    expect(passed(calls)).toBe(ofFewRuns.failureThreshold);
    for (const { pass } of calls) pass?.failed(failure);
    expect(await isOpen(circuit)).toBe(true);
  });
});

describe("circuits of one process", () => {
  it.each([{ owner: "V" }, { provider: "other" }, { model: "good" }])(
    "do not open because of failures in another one: %j",
    async (other) => {
      const circuits = circuitsWith();
      await opened(circuits.of(key));
      expect(await isOpen(circuits.of({ ...key, ...other }))).toBe(false);
      expect(await isOpen(circuits.of({ ...key }))).toBe(true);
    },
  );

  it("send a probe soon after any call to the same origin is answered, and only then", async () => {
    const circuits = circuitsWith({ basePauseMs: 10_000, maxPauseMs: 10_000 });
    const [hinted, elsewhere] = [
      circuits.of(key),
      circuits.of({ ...key, origin: "https://other.example" }),
    ];
    await opened(hinted);
    await opened(elsewhere);
    const [asked, others] = [many(hinted, 3), many(elsewhere, 3)];
    (await circuits.of({ ...key, owner: "V" }).enter(forever, never)).answered();
    await settle(10);
    expect([passed(asked), passed(others)]).toEqual([1, 0]);
  });

  it("send at most one such probe for each probe of their own, without changing their pauses", async () => {
    const circuits = circuitsWith();
    const well = circuits.of({ ...key, owner: "V" });
    const circuit = await opened(circuits.of(key));
    const started = Date.now();
    const asked = many(circuit, 10);
    const probedAt: number[] = [];
    while (Date.now() - started < 1_550) {
      (await well.enter(forever, never)).answered();
      await settle(10);
      while (probedAt.length < passed(asked)) probedAt.push(Date.now() - started);
      for (const { pass } of asked) pass?.failed(failure);
    }
    expect(probedAt.map((at) => Math.floor(at / 100) * 100)).toEqual([
      0, 100, 100, 300, 300, 700, 700, 1_500, 1_500,
    ]);
  });

  it("spread such probes over a second", async () => {
    let drawn = 0;
    const circuits = circuitsWith(
      { basePauseMs: 60_000, maxPauseMs: 60_000, maxWaiting: 10_000 },
      () => (drawn++ % 1_000) / 1_000,
    );
    const asked: Asking[] = [];
    for (let n = 0; n < 500; n += 1)
      asked.push(asking(await opened(circuits.of({ ...key, owner: `owner ${n}` }))));
    (await circuits.of({ ...key, owner: "V" }).enter(forever, never)).answered();
    await settle(50);
    expect(passed(asked)).toBeLessThan(100);
    await settle(500);
    expect(passed(asked)).toBe(500);
  });

  it("limit the waiting runs of one owner to half of the free capacity, so that others can wait too", async () => {
    const circuits = circuitsWith({ basePauseMs: 100_000, maxPauseMs: 100_000 });
    const waitingOf = async (owner: string) => {
      const asked: Asking[] = [];
      for (let model = 0; model < 10; model += 1) {
        const circuit = await opened(
          circuits.of({ ...key, owner, model: `${model}`, provider: `${model % 3}` }),
        );
        asked.push(...many(circuit, 10));
      }
      await settle();
      expect(String(asked.at(-1)?.refused)).toContain("too many runs already wait");
      return asked.filter(({ refused }) => refused === undefined).length;
    };
    const waiting = [
      await waitingOf("A"),
      await waitingOf("B"),
      await waitingOf("C"),
      await waitingOf("D"),
    ];
    expect(waiting).toEqual([20, 10, 5, 3]);
  });

  it("release the capacity of a waiting run, however its wait ended", async () => {
    const circuit = await opened(alone({ maxWaiting: 2 }));
    for (let n = 0; n < 3; n += 1) {
      const stop = new AbortController();
      const waits = asking(circuit, { signal: stop.signal });
      stop.abort("enough");
      await settle();
      expect(waits.refused).toBe("enough");
    }
    const waits = asking(circuit);
    await settle(100);
    expect(waits.pass).toBeDefined();
    const next = asking(circuit, { endsAt: performance.now() + 10_000 });
    await settle();
    expect(next.refused).toBeUndefined();
  });

  it.each([false, true])(
    "count a run as waiting also during its probe; delayed by a rate limit before: %s",
    async (isCounted) => {
      const circuits = circuitsWith();
      const circuit = await opened(circuits.of(key));
      if (isCounted) circuit.startWaiting();
      const enter = () => circuit.enter(forever, never, never, isCounted);
      // The first call waits for its turn. The second one gets the probe that no run waited for.
      const entering = enter();
      expect(circuits.waitingRuns).toBe(1);
      await settle(policy.basePauseMs);
      const first = await entering;
      await settle(policy.maxPauseMs);
      expect(circuits.waitingRuns).toBe(1);
      first.failed(failure);
      expect([circuits.waitingRuns, circuits.rateLimitedRuns]).toEqual([0, isCounted ? 1 : 0]);
      const second = await enter();
      expect(circuits.waitingRuns).toBe(1);
      second.answered();
      expect([circuits.waitingRuns, circuits.rateLimitedRuns]).toEqual([0, isCounted ? 1 : 0]);
    },
  );

  it("are limited in number, and an owner with many cannot evict those of an owner with few", async () => {
    const circuits = circuitsWith({}, noRandomness, 10);
    const few = await opened(circuits.of({ ...key, owner: "V" }));
    for (let n = 0; n < 50; n += 1) await opened(circuits.of({ ...key, model: `${n}` }));
    expect(await isOpen(few)).toBe(true);
    expect(await isOpen(circuits.of({ ...key, model: "49" }))).toBe(true);
    expect(await isOpen(circuits.of({ ...key, model: "0" }))).toBe(false);
  });

  it("evict idle ones first", async () => {
    const circuits = circuitsWith({}, noRandomness, 10);
    const old = await opened(circuits.of({ ...key, model: "old" }));
    for (let n = 0; n < 50; n += 1)
      (await circuits.of({ ...key, model: `${n}` }).enter(forever, never)).answered();
    expect(await isOpen(old)).toBe(true);
  });
});
