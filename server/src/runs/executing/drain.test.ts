import { expect, test } from "vitest";
import { createLog } from "../../base/log.ts";
import { createLiveRuns, LiveRun } from "../subscribing/index.ts";
import { type DrainPorts, drainRuns } from "./drain.ts";

const ports = (given: Partial<DrainPorts>): DrainPorts => ({
  database: {
    get engine(): never {
      return expect.fail("nothing is queried");
    },
  },
  log: createLog("silent"),
  process: { id: "prc_1" },
  live: createLiveRuns(),
  unconfirmedStarts: { size: 0 },
  startsInProgress: { count: 0 },
  unconfirmedClaims: { size: 0 },
  executeLostClaims: () => expect.fail("no claim is unconfirmed"),
  subscribers: {
    poller: {
      subscribe: () => expect.fail("nobody subscribes"),
      wake() {},
      wakeAll() {},
      runIds: [],
      closed: false,
      close() {},
    },
  },
  ...given,
});

test("a stopping process waits for the starts that it is writing, and until rejected ones are cancelled", async () => {
  let checks = 0;
  const unconfirmedStarts = {
    get size() {
      return checks++ < 3 ? 1 : 0;
    },
  };
  await drainRuns(ports({ unconfirmedStarts }), 10_000);
  expect(checks).toBeGreaterThan(3);
});

test("a stopping process waits for starts that read a run that an earlier request started", async () => {
  let checks = 0;
  const startsInProgress = {
    get count() {
      return checks++ < 3 ? 1 : 0;
    },
  };
  await drainRuns(ports({ startsInProgress }), 10_000);
  expect(checks).toBeGreaterThan(3);
});

test("a stopping process searches for the runs of lost claims until a search succeeds", async () => {
  let searches = 0;
  const executeLostClaims = async () => {
    if (++searches < 3) throw new Error("Connection terminated unexpectedly");
  };
  await drainRuns(ports({ unconfirmedClaims: { size: 1 }, executeLostClaims }), 60_000);
  expect(searches).toBe(3);
});

test("a run that begins after the grace period is released too", async () => {
  const live = createLiveRuns();
  const late = new LiveRun({ runId: "run_1", workspaceId: "wsp_1" }, 1, {
    hasRemoteSubscribers: false,
  });
  late.signal.addEventListener("abort", () => live.delete(late.runId));
  let checks = 0;
  const unconfirmedStarts = {
    get size() {
      // Simulates a start that was sent to the database before the process began to stop, and that
      // is committed while the process releases its runs.
      if (++checks === 2) live.set(late.runId, late);
      return checks <= 2 ? 1 : 0;
    },
  };
  await drainRuns(ports({ live, unconfirmedStarts }), 0);
  expect(late.signal.reason).toMatchObject({ reason: "drain" });
});
