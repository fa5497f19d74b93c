import { expect, onTestFinished, test, vi } from "vitest";
import { captureLog } from "../../../test/capture-log.ts";
import { RunStopped, type StopReason } from "../../engine/index.ts";
import { LiveRun } from "../subscribing/index.ts";
import { type EndPorts, endAfterError } from "./end-after-error.ts";

/**
 * Ends a run that failed with `thrown`, by default an internal error, while the database rejects
 * its end. Contains only the services that this uses.
 */
function endRejected({ thrown = new Error("broken"), resumed = false } = {}) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const log = captureLog();
  const run = {
    runId: "run_1",
    workspaceId: "wsp_1",
    agentId: "agt_1",
    owner: "prc_1",
    fence: 1,
    lastSeq: 1,
    elapsedMs: 0,
    resumed,
  };
  const live = new LiveRun(run, 1, { hasRemoteSubscribers: false });
  const state = { writes: 0, isOver: false };
  const capacity = { isDraining: false };
  let result: { readonly kind: string; readonly time?: string } | undefined;
  const ports = {
    log: log.log,
    capacity,
    reports: { written() {} },
    appends: {
      submit: async () => {
        state.writes++;
        if (result === undefined) throw new Error("permission denied for table run_results");
        return result;
      },
    },
  } as unknown as EndPorts;
  void endAfterError(ports, live, run, { thrown, journal: undefined, calls: [] }).then(() => {
    state.isOver = true;
  });
  return {
    log,
    live,
    state,
    capacity,
    accept: () => {
      result = { kind: "written", time: "2026-01-01T00:00:00.000Z" };
    },
    fence: () => {
      result = { kind: "fenced" };
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  };
}

test.each<[StopReason | undefined, string, string]>([
  [undefined, "failed", "interrupted"],
  ["cancelled", "cancelled", "cancelled"],
  ["deadline", "failed", "interrupted"],
])(
  "the end of a run (stopped: %s) is written every 10 seconds until the database accepts it, and each cause is logged once",
  async (stop, status, code) => {
    const { log, live, state, accept, pass } = endRejected();
    if (stop !== undefined) live.stop(stop);
    await pass(3_600_000);
    expect(state.writes).toBeGreaterThan(300);
    expect(state.writes).toBeLessThan(380);
    expect(live.outcome).toBeUndefined();
    accept();
    await pass(10_000);
    expect(state.isOver).toBe(true);
    expect(live.outcome).toMatchObject({ status, error: { code } });
    expect(log.named("executing a run failed unexpectedly").map(({ reason }) => reason)).toEqual([
      "broken",
      "permission denied for table run_results",
    ]);
  },
);

test.each([
  [false, /before it could begin/],
  [true, /did not finish within its time limit/],
])("a run whose time is over (resumed: %s) ends with what is true of it", async (resumed, says) => {
  const { live, accept, pass } = endRejected({ thrown: new RunStopped("deadline"), resumed });
  accept();
  await pass(1_000);
  expect(live.outcome).toMatchObject({
    error: { code: "deadline_exceeded", message: expect.stringMatching(says) },
  });
});

test("the first repetitions come within a second", async () => {
  const { state, pass } = endRejected();
  await pass(1_000);
  expect(state.writes).toBe(3);
});

test("a run that is cancelled between two attempts ends at once", async () => {
  const { live, accept, pass } = endRejected();
  await pass(3_600_000);
  accept();
  live.stop("cancelled");
  await pass(0);
  expect(live.outcome).toMatchObject({ status: "cancelled" });
});

test("a run that another process owns is left to it", async () => {
  const { live, state, fence, pass } = endRejected();
  fence();
  await pass(10_000);
  expect(state.isOver).toBe(true);
  expect(live.outcome).toBeUndefined();
});

test("after its lease expired, the process leaves its runs even if the database rejects all writes", async () => {
  const { live, state, pass } = endRejected();
  await pass(60_000);
  live.stop("fenced");
  await pass(0);
  expect(state.isOver).toBe(true);
});

test("a stopping process tries until its grace period ends, then gives up at once", async () => {
  const { live, state, capacity, pass } = endRejected();
  capacity.isDraining = true;
  await pass(60_000);
  expect(state.isOver).toBe(false);
  live.stop("drain");
  await pass(0);
  expect(state.isOver).toBe(true);
});

test("a stopping process gives up a run that was stopped before, with its next attempt", async () => {
  const { live, state, capacity, pass } = endRejected();
  live.stop("cancelled");
  await pass(60_000);
  expect(state.isOver).toBe(false);
  capacity.isDraining = true;
  await pass(10_000);
  expect(state.isOver).toBe(true);
});
