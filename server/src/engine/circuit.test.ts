import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Circuit, createCircuit, type Pass } from "./circuit.ts";
import { ModelFailure } from "./model-failure.ts";

const failure = new ModelFailure("The connection failed.", { retryable: true, down: true });
const policy = { failures: 3, baseMs: 100, capMs: 1_600, mostWaiting: 3, mostSilent: 50, silentMs: 500 };
const forever = new AbortController().signal;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Pauses are between half of a bound and the whole of it; without chance, the whole. */
const whole = () => 1;

/** What became of a call that asks to be let in, as far as that is known now. */
function asking(circuit: Circuit, { signal = forever, endsAt = Number.POSITIVE_INFINITY } = {}) {
  const state: { pass?: Pass; refused?: unknown } = {};
  void circuit.enter(signal, endsAt).then(
    (pass) => {
      state.pass = pass;
    },
    (thrown) => {
      state.refused = thrown;
    },
  );
  return state;
}

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

async function opened(): Promise<Circuit> {
  const circuit = createCircuit(policy, whole);
  for (let n = 0; n < policy.failures; n += 1) (await circuit.enter(forever, Number.POSITIVE_INFINITY)).failed(failure);
  return circuit;
}

describe("a circuit", () => {
  it("lets calls through until so many in a row have failed, and counts anew after an answer", async () => {
    const circuit = createCircuit(policy, whole);
    for (const outcome of ["failed", "failed", "answered", "failed", "dropped", "failed"] as const) {
      const pass = await circuit.enter(forever, Number.POSITIVE_INFINITY);
      if (outcome === "failed") pass.failed(failure);
      else pass[outcome]();
    }
    (await circuit.enter(forever, Number.POSITIVE_INFINITY)).failed(failure);
    const waits = asking(circuit);
    await settle();
    expect(waits.pass).toBeUndefined();
  });

  it("lets one call through after each pause, which doubles up to a bound while the calls fail", async () => {
    const circuit = await opened();
    const started = Date.now();
    const probedAt: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      const [first, second] = [asking(circuit), asking(circuit)];
      while (first.pass === undefined) await settle(10);
      probedAt.push(Date.now() - started);
      expect(second.pass).toBeUndefined();
      first.pass.failed(failure);
      while (second.pass === undefined) await settle(10);
      probedAt.push(Date.now() - started);
      second.pass.failed(failure);
    }
    const pauses = probedAt.map((at, index) => at - (probedAt[index - 1] ?? 0));
    expect(pauses.slice(0, 6)).toEqual([100, 200, 400, 800, 1_600, 1_600]);
    expect(Math.max(...pauses)).toBe(1_600);
  });

  it("lets all that wait through, one after the other, as soon as one call is answered", async () => {
    const circuit = await opened();
    const asked = [asking(circuit), asking(circuit), asking(circuit)];
    await settle(100);
    expect(asked.map(({ pass }) => pass !== undefined)).toEqual([true, false, false]);
    asked[0]?.pass?.answered();
    await settle(1_000);
    expect(asked.every(({ pass }) => pass !== undefined)).toBe(true);
    const next = asking(circuit);
    await settle();
    expect(next.pass).toBeDefined();
  });

  it("closes with a late answer to a call from before", async () => {
    const circuit = createCircuit(policy, whole);
    const early = await circuit.enter(forever, Number.POSITIVE_INFINITY);
    for (let n = 0; n < policy.failures; n += 1) (await circuit.enter(forever, Number.POSITIVE_INFINITY)).failed(failure);
    const waits = asking(circuit);
    early.answered();
    await settle(10);
    expect(waits.pass).toBeDefined();
  });

  it("lets another call through when the last one hangs, and the next to come when nobody waits", async () => {
    const circuit = await opened();
    const [hangs, next] = [asking(circuit), asking(circuit)];
    await settle(100);
    expect(hangs.pass).toBeDefined();
    expect(next.pass).toBeUndefined();
    await settle(100);
    expect(next.pass).toBeDefined();
    await settle(5_000);
    const late = asking(circuit);
    const later = asking(circuit);
    await settle();
    expect([late.pass !== undefined, later.pass !== undefined]).toEqual([true, false]);
  });

  it("holds a call no longer than its step may take, than its run may go on, and no more calls than it may", async () => {
    const circuit = await opened();
    const stop = new AbortController();
    const short = asking(circuit, { endsAt: performance.now() + 50 });
    const stopped = asking(circuit, { signal: stop.signal });
    const patient = asking(circuit);
    const oneTooMany = asking(circuit);
    stop.abort("enough");
    await settle(60);
    expect(short.refused).toMatchObject({ name: "ModelFailure", retryable: false });
    expect(String(short.refused)).toContain("is down. Its last failure: The connection failed.");
    expect(stopped.refused).toBe("enough");
    expect(String(oneTooMany.refused)).toContain("3 runs wait for it already");
    await settle(100);
    expect(patient.pass).toBeDefined();
  });

  it("opens when many calls are under way and none of them shows a sign of life", async () => {
    const circuit = createCircuit({ ...policy, mostSilent: 2 }, whole);
    const first = await circuit.enter(forever, Number.POSITIVE_INFINITY);
    await circuit.enter(forever, Number.POSITIVE_INFINITY);
    await settle(policy.silentMs - 10);
    await circuit.enter(forever, Number.POSITIVE_INFINITY);
    await settle(20);
    const waits = asking(circuit);
    await settle();
    expect(waits.pass).toBeUndefined();
    first.answered();
    await settle(10);
    expect(waits.pass).toBeDefined();
  });
});
