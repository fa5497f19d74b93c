import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { median } from "../../test/busy-model.ts";
import { dataOf, play } from "../../test/engine-run.ts";
import { scriptedModel } from "../../test/format-cases.ts";
import {
  type Behaviour,
  blackHole,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../test/model-server.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { elapsed } from "../base/clock.ts";
import { type CircuitPolicy, circuitPolicy, type Pass } from "./circuit/circuit.ts";
import { type Circuit, createCircuits } from "./circuit/circuits.ts";
import { defaultRetryPolicy, defaultTimeouts } from "./timeouts.ts";

/** All times are divided by this, so that an outage of ten minutes takes 1.5 seconds. */
const scale = 400;
const real = circuitPolicy(2_000);
const policy: CircuitPolicy = {
  ...real,
  basePauseMs: real.basePauseMs / scale,
  maxPauseMs: real.maxPauseMs / scale,
  lastAttemptMs: real.lastAttemptMs / scale,
  maxSilenceMs: real.maxSilenceMs / scale,
};
const retry = {
  ...defaultRetryPolicy,
  baseWaitMs: defaultRetryPolicy.baseWaitMs / scale,
  maxWaitMs: defaultRetryPolicy.maxWaitMs / scale,
};
const outageMs = 600_000 / scale;
const startEveryMs = 10;

const [ailing, well] = [await startModelServer(), await startModelServer()];
afterAll(() => Promise.all([ailing.close(), well.close()]));
beforeEach(() => {
  ailing.reset();
  well.reset();
});

/** Executes a run and returns its outcome and duration. */
async function timed(url: string, circuit: Circuit, stepMs: number) {
  const startedAt = elapsed();
  const { outcome } = await play(url, { circuit, retry, timeouts: { ...defaultTimeouts, stepMs } });
  return { outcome, tookMs: elapsed() - startedAt };
}

const outages: readonly (readonly [string, Behaviour])[] = [
  ["answers 503", status(503)],
  ["answers 529", status(529)],
  ["resets every connection", withDelivery({ type: "cut", after: 0 }, says("never"))],
  ["truncates every answer", withDelivery({ type: "cut", after: 60, gently: true }, says("never"))],
  ["accepts calls and never responds", blackHole],
];

describe.each(outages)("a provider that %s for ten minutes", (_how, behaviour) => {
  it("does not get a flood of calls, slows no other provider, and is in use again within thirty seconds", async () => {
    const shared = createCircuits(policy);
    const circuitOf = (url: string) =>
      shared.of({ owner: "A", provider: url, model: "m", origin: url });
    const circuits = { ailing: circuitOf(ailing.url), well: circuitOf(well.url) };
    ailing.script(behaviour);
    const startedAt = elapsed();
    const hit: ReturnType<typeof timed>[] = [];
    const spared: ReturnType<typeof timed>[] = [];
    while (elapsed() - startedAt < outageMs) {
      hit.push(timed(ailing.url, circuits.ailing, behaviour === blackHole ? 300 : 10_000));
      spared.push(timed(well.url, circuits.well, 10_000));
      await wait(startEveryMs);
    }
    const calls = ailing.requests.length;
    let calledAgainAt: number | undefined;
    ailing.script((...request) => {
      calledAgainAt ??= elapsed();
      return says("back")(...request);
    });
    const recoveredAt = elapsed();
    const afterwards = await timed(ailing.url, circuits.ailing, 10_000);
    expect(afterwards.outcome).toMatchObject({ status: "succeeded" });
    // The model is used again within thirty seconds (divided by `scale`) after it has recovered.
    // The limit is longer, because calls are slow on a busy machine. The test still fails if the
    // pauses grow as long as the outage.
    expect((calledAgainAt ?? Number.NaN) - recoveredAt).toBeLessThan(outageMs);

    const ends = await Promise.all(hit);
    const lost = ends.filter(({ outcome }) => outcome?.status !== "succeeded").length;
    // Runs wait instead of failing. Only runs that used up their attempts before the circuit opened
    // fail. With `blackHole` more runs fail, because their `stepMs` is shorter than the outage.
    if (behaviour !== blackHole) expect(lost).toBeLessThan(real.failureThreshold);
    // The provider gets the calls that were made before the circuit opened, and then about one call
    // for each pause.
    expect(calls).toBeLessThan(real.failureThreshold * 8 + (outageMs / policy.maxPauseMs) * 2 + 40);

    const others = await Promise.all(spared);
    expect(others.every(({ outcome }) => outcome?.status === "succeeded")).toBe(true);
    // If these runs waited for the provider that is down, half of them would take at least half of
    // the outage. The median is checked, because single runs can be slow on a busy machine.
    expect(median(others.map(({ tookMs }) => tookMs))).toBeLessThan(outageMs / 4);
  });
});

it("a streamed call receives data before its first text, which answers it", async () => {
  const reports: string[] = [];
  const report = (name: string) => () => void reports.push(name);
  const pass: Pass = {
    probe: false,
    last: false,
    received: report("received"),
    answered: report("answered"),
    failed: report("failed"),
    dropped: report("dropped"),
    returned: report("returned"),
  };
  const key = { owner: "A", provider: "p", model: "m", origin: ailing.url };
  ailing.script(says("Hello"));
  await play(ailing.url, {
    model: scriptedModel("openai", ailing.url),
    settings: { stream: "always" },
    circuit: { ...createCircuits(policy).of(key), enter: async () => pass },
  });
  expect(reports[0]).toBe("received");
  expect(reports.find((name) => name !== "received")).toBe("answered");
});

it("a run waits for its provider also if no other run calls it", async () => {
  const circuit = createCircuits(policy).of({
    owner: "A",
    provider: "p",
    model: "m",
    origin: ailing.url,
  });
  ailing.script([...Array.from({ length: 8 }, () => status(503)), says("back")]);
  const { outcome } = await play(ailing.url, { circuit, retry, timeouts: defaultTimeouts });
  expect(outcome).toMatchObject({ status: "succeeded", output: "back" });
});

describe("a run whose model is down", () => {
  const policyOfTwo = { ...policy, failureThreshold: 2, basePauseMs: 2, maxPauseMs: 8 };
  const circuitOf = (changed: Partial<CircuitPolicy> = {}) =>
    createCircuits({ ...policyOfTwo, ...changed }).of({
      owner: "A",
      provider: "p",
      model: "m",
      origin: ailing.url,
    });

  it("can probe repeatedly for all waiting runs: probes do not count as its attempts", async () => {
    ailing.script([...Array.from({ length: 10 }, () => status(503)), says("back")]);
    const { outcome, journal } = await play(ailing.url, {
      circuit: circuitOf(),
      retry: { ...retry, maxAttempts: 3 },
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "back" });
    expect(dataOf(journal, "run.step")[0]?.retries).toBe(10);
  });

  it("fails like any other run when the provider rejects the call", async () => {
    ailing.script([status(503), status(503), status(503), status(400)]);
    expect((await play(ailing.url, { circuit: circuitOf() })).outcome).toMatchObject({
      status: "failed",
    });
    expect(ailing.requests).toHaveLength(4);
  });

  it("lets no other run call it because its own call was never sent for lack of memory", async () => {
    const circuit = circuitOf();
    ailing.script(status(503));
    await play(ailing.url, {
      circuit,
      retry: { ...retry, maxAttempts: policyOfTwo.failureThreshold },
    });
    ailing.reset();
    const { outcome } = await play(ailing.url, {
      circuit,
      memory: new ByteBudget({ maxBytes: 10 }).hold("A"),
    });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("all the memory") },
    });
    expect(ailing.requests).toHaveLength(0);

    const pass = await circuit.enter(new AbortController().signal, elapsed() + 60_000);
    expect(pass.probe).toBe(true);
  });

  it.each(["step", "run"])("calls it once before its %s times out", async (which) => {
    const circuit = circuitOf({ basePauseMs: 60_000, maxPauseMs: 60_000, lastAttemptMs: 60_000 });
    ailing.script(status(503));
    await play(ailing.url, {
      circuit,
      retry: { ...retry, maxAttempts: policyOfTwo.failureThreshold },
    });
    ailing.reset();
    const limit = () =>
      which === "step"
        ? { timeouts: { ...defaultTimeouts, stepMs: 1_000 } }
        : { deadlineAt: elapsed() + 1_000, timeouts: defaultTimeouts };

    ailing.script(status(503));
    expect((await play(ailing.url, { circuit, ...limit() })).outcome).toMatchObject({
      status: "failed",
      error: { message: "The model's provider answered 503: scripted 503" },
    });
    expect(ailing.requests).toHaveLength(1);

    ailing.script(says("back"));
    expect((await play(ailing.url, { circuit, ...limit() })).outcome).toMatchObject({
      status: "succeeded",
      output: "back",
    });
  });
});
