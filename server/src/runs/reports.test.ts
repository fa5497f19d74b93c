import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { play } from "../../test/engine-run.ts";
import { body, inBandError, says, startModelServer, status } from "../../test/model-server.ts";
import { createMetrics } from "../base/metrics/index.ts";
import { circuitPolicy, createCircuits } from "../engine/index.ts";
import { ModelFailure } from "../engine/model-failure.ts";
import { createRunReports } from "./reports.ts";

const failure = new ModelFailure("The connection failed.", { retryable: true, unreachable: true });
const policy = circuitPolicy(100);
const forever = new AbortController().signal;
const never = Number.POSITIVE_INFINITY;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns the circuit of a model whose outages are reported, and what was logged. */
async function reportedCircuit() {
  const { log, lines } = captureLog();
  const { outages } = createRunReports(log, await createMetrics({ isOn: false }));
  const circuits = createCircuits(policy, { outages });
  const circuit = circuits.of({
    owner: "wsp_1",
    provider: "operator",
    model: "openai/model",
    origin: "https://models.example",
  });
  return { circuits, circuit, lines };
}
const outage = { workspace_id: "wsp_1", model: "openai/model" };

test("an outage is logged when runs begin to wait, once a minute, and when it ends", async () => {
  const { circuit, lines } = await reportedCircuit();
  const fail = async () => (await circuit.enter(forever, never)).failed(failure);

  for (let failed = 1; failed < policy.failureThreshold; failed += 1) await fail();
  expect(lines).toEqual([]);
  await fail();
  const begun = { msg: "provider failed", level: "warn", ...outage, error_code: "model_error" };
  expect(lines).toEqual([
    expect.objectContaining({ ...begun, reason: "The connection failed.", count: 1 }),
  ]);

  for (let waitedMs = 0; waitedMs < 90_000; waitedMs += policy.maxPauseMs) {
    const probe = fail();
    await vi.advanceTimersByTimeAsync(policy.maxPauseMs);
    await probe;
  }
  expect(lines.slice(1)).toEqual([expect.objectContaining(begun)]);

  await vi.advanceTimersByTimeAsync(policy.maxPauseMs);
  (await circuit.enter(forever, never)).answered();
  expect(lines.slice(2)).toEqual([
    expect.objectContaining({ msg: "provider works again", ...outage }),
  ]);
});

test("a model that does not answer is logged, and the run that waits is counted", async () => {
  const { circuits, circuit, lines } = await reportedCircuit();
  for (let calls = 0; calls < policy.minSilentCalls; calls += 1)
    await circuit.enter(forever, never);
  await vi.advanceTimersByTimeAsync(policy.maxSilenceMs + 10);
  expect(circuits.waitingRuns).toBe(0);
  const stop = new AbortController();
  const waiting = circuit.enter(stop.signal, never);
  expect(circuits.waitingRuns).toBe(1);
  const line = { msg: "provider failed", ...outage, error_code: "model_timeout", count: 1 };
  expect(lines).toEqual([expect.objectContaining({ ...line, reason: "It does not answer." })]);
  stop.abort();
  await expect(waiting).rejects.toThrow();
  expect(circuits.waitingRuns).toBe(0);
});

const unreadable = {
  message: "Failed to call a function.",
  code: "tool_use_failed",
  failed_generation: "the name of a patient",
};
const routed = (raw: string) => ({
  error: { code: 502, message: "Provider returned error", metadata: { raw, provider_name: "X" } },
});

test.each([
  [
    "a sample that the provider cannot read",
    inBandError(unreadable),
    "The model's provider reported an error: Failed to call a function.",
    "It generated: the name of a patient",
  ],
  [
    "the body of a server behind the provider",
    status(502, { body: JSON.stringify(routed("<html>the name of a patient")) }),
    "The model's provider answered 502: Provider returned error",
    "X sent: <html>the name of a patient",
  ],
  [
    "such a body inside a 200",
    body(JSON.stringify(routed("<html>the name of a patient"))),
    "The model's provider reported an error: Provider returned error",
    "X sent: <html>the name of a patient",
  ],
])("%s is in the error of the run, and in no line of the log", async (_what, failed, own, more) => {
  vi.useRealTimers();
  const server = await startModelServer();
  server.script(failed);
  const { outcome } = await play(server.url);
  await server.close();
  expect(outcome).toMatchObject({
    error: { message: `${own.replace(/[^.]$/, "$&.")} ${more}` },
  });

  const { log, lines } = captureLog();
  const reports = createRunReports(log, await createMetrics({ isOn: false }));
  reports.written({
    ...{ runId: "run_1", workspaceId: "wsp_1", agentId: "agt_1", modelName: "x/model" },
    ...{ events: [], calls: [], outcome, steps: 0, elapsedMs: 1 },
  });
  expect(lines).toContainEqual(expect.objectContaining({ msg: "provider failed", reason: own }));
  expect(JSON.stringify(lines)).not.toContain("patient");
});

test("a rate limit is logged when a run begins to wait for it, once a minute, and when it ends", async () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["performance"] });
  const server = await startModelServer();
  const { log, lines } = captureLog();
  const reports = createRunReports(log, await createMetrics({ isOn: false }));
  const run = { runId: "run_1", workspaceId: "wsp_1", agentId: "agt_1", modelName: "openai/model" };
  const playReported = async (limitedCalls: number) => {
    server.script([...Array.from({ length: limitedCalls }, () => status(429)), says("done")]);
    const { journal, outcome } = await play(server.url, {
      onAttempt: (attempt) => reports.attempted(attempt, { ...run, reachedLimitMs: undefined }),
    });
    const events = journal.entries;
    reports.written({ ...run, events, calls: [], outcome, steps: 1, elapsedMs: 1 });
  };
  const named = () => lines.filter(({ msg }) => msg !== "run ended");

  await playReported(2);
  const reason = "The model's provider answered 429: scripted 429";
  const limited = { msg: "provider limits calls", level: "warn", ...outage, reason };
  expect(named()).toEqual([
    expect.objectContaining({ ...limited, run_id: "run_1", agent_id: "agt_1", count: 1 }),
  ]);
  vi.advanceTimersByTime(61_000);
  await playReported(1);
  expect(named().slice(1)).toEqual([expect.objectContaining({ ...limited, count: 2 })]);
  vi.advanceTimersByTime(61_000);
  await playReported(0);
  const over = { msg: "provider no longer limits calls", ...outage, count: 3 };
  expect(named().slice(2)).toEqual([expect.objectContaining({ ...over, duration_ms: 61_000 })]);
  await server.close();
});
