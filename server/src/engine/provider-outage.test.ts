import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { play } from "../../test/engine-run.ts";
import { type Behaviour, blackHole, fated, says, startModelServer, status } from "../../test/model-server.ts";
import { elapsed } from "../base/clock.ts";
import { type CircuitPolicy, circuitPolicy, createCircuit } from "./circuit.ts";
import { defaultRetryPolicy, defaultTimeouts } from "./timeouts.ts";

/** Ten minutes of outage in a second and a half: every time is divided by this. */
const scale = 400;
const real = circuitPolicy(2_000);
const policy: CircuitPolicy = {
  ...real,
  baseMs: real.baseMs / scale,
  capMs: real.capMs / scale,
  silentMs: real.silentMs / scale,
};
const retry = { ...defaultRetryPolicy, baseMs: defaultRetryPolicy.baseMs / scale, capMs: defaultRetryPolicy.capMs / scale };
const outageMs = 600_000 / scale;
const startEveryMs = 10;

const [ailing, well] = [await startModelServer(), await startModelServer()];
afterAll(() => Promise.all([ailing.close(), well.close()]));
beforeEach(() => {
  ailing.reset();
  well.reset();
});

/** A run's end and how long it took. */
async function timed(url: string, circuit: ReturnType<typeof createCircuit>, stepMs: number) {
  const begun = elapsed();
  const { outcome } = await play(url, { circuit, retry, timeouts: { ...defaultTimeouts, stepMs } });
  return { outcome, tookMs: elapsed() - begun };
}

const outages: readonly (readonly [string, Behaviour])[] = [
  ["answers 503", status(503)],
  ["answers 529", status(529)],
  ["resets every connection", fated({ type: "cut", after: 0 }, says("never"))],
  ["breaks off every answer", fated({ type: "cut", after: 60, gently: true }, says("never"))],
  ["takes calls and says nothing", blackHole],
];

describe.each(outages)("a provider that %s for ten minutes", (_how, behaviour) => {
  it("is not hammered, does not slow another, and is back within thirty seconds", { timeout: 20_000 }, async () => {
    const circuits = { ailing: createCircuit(policy), well: createCircuit(policy) };
    ailing.script(behaviour);
    const begun = elapsed();
    const hit: ReturnType<typeof timed>[] = [];
    const spared: ReturnType<typeof timed>[] = [];
    while (elapsed() - begun < outageMs) {
      hit.push(timed(ailing.url, circuits.ailing, behaviour === blackHole ? 300 : 10_000));
      spared.push(timed(well.url, circuits.well, 10_000));
      await wait(startEveryMs);
    }
    const calls = ailing.requests.length;
    ailing.script(says("back"));
    const back = elapsed();
    const afterwards = await timed(ailing.url, circuits.ailing, 10_000);
    expect(afterwards.outcome).toMatchObject({ status: "succeeded" });
    // Thirty seconds, and what this machine takes for a call.
    expect(elapsed() - back).toBeLessThan(30_000 / scale + 250);

    const ends = await Promise.all(hit);
    expect(elapsed() - back).toBeLessThan(2_500);
    const lost = ends.filter(({ outcome }) => outcome?.status !== "succeeded").length;
    // Runs wait for it instead of failing; only those that themselves called it too often are lost, or waited for longer than they may.
    if (behaviour !== blackHole) expect(lost).toBeLessThan(ends.length / 3);
    // The first ones, before it was known, and then about one in a pause.
    expect(calls).toBeLessThan(real.failures * 8 + (outageMs / policy.capMs) * 2 + 40);

    const others = await Promise.all(spared);
    expect(others.every(({ outcome }) => outcome?.status === "succeeded")).toBe(true);
    const slowest = others.map(({ tookMs }) => tookMs).sort((a, b) => a - b)[Math.floor(others.length * 0.95)] ?? 0;
    expect(slowest).toBeLessThan(200);
  });
});
