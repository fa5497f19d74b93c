import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { checkDeliveries } from "../server/test/crash/kill-around-deliveries.ts";
import { wrongWith } from "../server/test/soak/lost-processes.ts";
import { summarizeResponses, wrongWithGoodput } from "../server/test/soak/overload.ts";
import { wrongWithShare } from "../server/test/soak/retention/prune-under-load.ts";

const plan = (nonce: string) => ({ nonce, steps: [], thinkMs: 0, failures: 0 });
const nothing = {
  received: [],
  killedUrls: new Set<string>(),
  calls: [],
  unendedRuns: 0,
  hasPending: false,
};

test("runs that have not ended, and pending deliveries, hide no other violation", () => {
  const run = { id: "evt_1", run_id: "run_1", seq: 1, type: "run.started" };
  const lost = { ...run, delivered: null, attempts: null };
  const { broken } = checkDeliveries([lost], { ...nothing, unendedRuns: 2, hasPending: true });
  expect(broken).toEqual([
    "2 runs have not ended",
    "deliveries are still pending",
    "run.started evt_1 did not arrive",
    "the delivery of run.started evt_1 is null",
    "run_1 has 0 last events",
  ]);
  expect(checkDeliveries([], { ...nothing, unendedRuns: 1 }).broken).toEqual([
    "1 runs have not ended",
  ]);
});

test("a delivery that is sent again without a failed attempt or a kill is a violation", () => {
  const run = { id: "evt_1", run_id: "run_1", seq: 1, type: "run.finished" };
  const request = (url: string) => {
    const body = { type: run.type, data: { run_id: run.run_id, url } };
    return { id: run.id, text: "", body };
  };
  const received = [request("http://127.0.0.1:1/x"), request("http://127.0.0.1:2/x")];
  const brokenWith = (attempts: number, killed: readonly string[]) =>
    checkDeliveries([{ ...run, delivered: "succeeded", attempts }], {
      ...nothing,
      received,
      killedUrls: new Set(killed),
    }).broken;
  expect(brokenWith(1, [])).toEqual([
    "run.finished evt_1 was sent 2 times, and 1 attempts were recorded",
  ]);
  expect(brokenWith(2, [])).toEqual([]);
  expect(brokenWith(1, ["http://127.0.0.1:1"])).toEqual([]);
});

test("a request without a run, and an acknowledged run without events, are violations", () => {
  const acknowledged = [{ runId: "run_1", status: 200, output: undefined }];
  const calls = [
    { plan: plan("first"), acknowledged: [] },
    { plan: plan("second"), acknowledged },
  ];
  expect(checkDeliveries([], { ...nothing, calls }).broken).toEqual([
    "first was never acknowledged",
    "run_1 was acknowledged and has no events",
  ]);
});

test("a lost run is a violation of the test of lost processes", () => {
  const run = { id: "run_1", status: "succeeded", error_code: null, attempt: 1 };
  const stored = { ...run, payload: JSON.stringify(plan("kept")) };
  const options = { world: { effects: [] }, killer: undefined };
  expect(wrongWith([stored], { ...options, plans: [plan("kept")] })).toEqual([]);
  expect(wrongWith([stored], { ...options, plans: [plan("kept"), plan("lost")] })).toEqual([
    "lost has 0 runs",
  ]);
});

test("a server that executes no run, and a share that is not a number, are violations", () => {
  expect(wrongWithGoodput(0, 0)).toHaveLength(1);
  expect(wrongWithGoodput(40, 20)).toHaveLength(1);
  expect(wrongWithGoodput(40, 39)).toEqual([]);
  expect(wrongWithShare(Number.NaN)).toHaveLength(1);
  expect(wrongWithShare(0.2)).toHaveLength(1);
  expect(wrongWithShare(0.05)).toEqual([]);
});

test("each request under overload counts once, whatever its response, and only rejections are timed", () => {
  const rejected = Array.from({ length: 100 }, (_, at) => ({ status: 429, ms: at + 1 }));
  const responses = [{ status: 200, ms: 5_000 }, undefined, { status: 503, ms: 0 }, ...rejected];
  const { statuses, rejectedP99Ms } = summarizeResponses(responses);
  expect(Object.fromEntries(statuses)).toEqual({ 200: 1, none: 1, 503: 1, 429: 100 });
  expect(rejectedP99Ms).toBe(99);
});

test("a setting that is not a number fails, and does not make a test do nothing", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "script/run-soak.ts", "requests"],
    {
      cwd: resolve(import.meta.dirname, ".."),
      encoding: "utf8",
      env: { ...process.env, CRASH_SEED: "1", REQUEST_KILLS: "many" },
    },
  );
  expect(stderr).toContain('REQUEST_KILLS is "many"');
  expect(status).toBe(1);
});
