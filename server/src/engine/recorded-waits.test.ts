import { afterAll, beforeEach, expect, test } from "vitest";
import { callsIn, play } from "../../test/engine-run.ts";
import { says, startModelServer, status, withDelivery } from "../../test/model-server.ts";
import type { Circuit, Pass } from "./circuit/index.ts";
import { RunStopped, type StopReason } from "./journal.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

/** A circuit whose first pass is issued when the test calls `admit`. */
function openCircuit() {
  const admitted = Promise.withResolvers<void>();
  const reports: (keyof Pass)[] = [];
  const report = (name: keyof Pass) => () => void reports.push(name);
  const pass: Pass = {
    probe: false,
    last: false,
    received() {},
    answered: report("answered"),
    failed: report("failed"),
    dropped: report("dropped"),
    returned: report("returned"),
  };
  const circuit: Circuit = {
    enter: () => admitted.promise.then(() => pass),
    startWaiting: () => true,
    stopWaiting() {},
    streamNext() {},
    needsStream: () => false,
  };
  return { circuit, reports, admit: admitted.resolve };
}

test("a wait for a provider that is down is recorded until immediately before the call", async () => {
  server.script(says("done"));
  const { circuit, admit } = openCircuit();
  const records: { isWaiting: boolean; calls: number }[] = [];
  const { outcome } = await play(server.url, {
    circuit,
    async recordWait(isWaiting) {
      records.push({ isWaiting, calls: server.requests.length });
      if (isWaiting) admit();
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
  expect(records).toEqual([
    { isWaiting: true, calls: 0 },
    { isWaiting: false, calls: 0 },
  ]);
});

test("a wait that cannot be recorded is none, and a record that cannot be removed ends the run", async () => {
  server.script(says("done"));
  const failsAt = (failing: boolean) => {
    const { circuit, reports, admit } = openCircuit();
    const played = play(server.url, {
      circuit,
      recordWait(isWaiting) {
        if (isWaiting) admit();
        return isWaiting === failing ? Promise.reject(new Error("scripted")) : Promise.resolve();
      },
    });
    return { played, reports };
  };
  expect((await failsAt(true).played).outcome).toMatchObject({ status: "succeeded" });
  const { played, reports } = failsAt(false);
  await expect(played).rejects.toThrow("scripted");
  expect(reports).toEqual(["returned"]);
  expect(server.requests.length).toBe(1);
});

test.each<[StopReason, string | undefined]>([
  ["cancelled", "cancelled"],
  ["deadline", "failed"],
  ["drain", undefined],
])(
  "a run that is stopped (%s) while its record is removed makes no call",
  async (reason, status) => {
    server.script(says("done"));
    const { circuit, reports, admit } = openCircuit();
    const stop = new AbortController();
    const { outcome, journal, released } = await play(server.url, {
      circuit,
      signal: stop.signal,
      async recordWait(isWaiting) {
        if (isWaiting) admit();
        else stop.abort(new RunStopped(reason));
      },
    });
    expect(outcome?.status).toBe(status);
    expect(callsIn(journal)).toEqual([]);
    expect(released).toBeUndefined();
    expect(reports).toEqual(["returned"]);
    expect(server.requests.length).toBe(0);
  },
);

test("a call without a wait of a second records nothing", async () => {
  server.script([status(429), says("done")]);
  const records: boolean[] = [];
  const recordWait = async (isWaiting: boolean) => void records.push(isWaiting);
  const { outcome } = await play(server.url, { recordWait });
  expect(outcome).toMatchObject({ status: "succeeded" });
  expect(records).toEqual([]);
});

test("a wait is not recorded after an attempt that used tokens, which no event reports yet", async () => {
  server.script([
    withDelivery({ type: "cut", after: 300 }, says("lost")),
    status(429, { headers: { "retry-after": "2" } }),
    says("done"),
  ]);
  const records: boolean[] = [];
  const recordWait = async (isWaiting: boolean) => void records.push(isWaiting);
  const { outcome, journal } = await play(server.url, { recordWait });
  expect(outcome).toMatchObject({ status: "succeeded" });
  expect(callsIn(journal).map((call) => call.outcome)).toEqual(["lost", "failed", "answered"]);
  expect(records).toEqual([]);
});

test("a run that resumes removes the record before its next call", async () => {
  server.script(says("done"));
  const records: { isWaiting: boolean; calls: number }[] = [];
  const { outcome, journal } = await play(server.url, {
    resumed: true,
    wasWaiting: true,
    async recordWait(isWaiting) {
      records.push({ isWaiting, calls: server.requests.length });
    },
  });
  expect(outcome).toMatchObject({ status: "succeeded" });
  expect(records).toEqual([{ isWaiting: false, calls: 0 }]);
  expect(callsIn(journal).map((call) => call.outcome)).toEqual(["answered"]);
});
