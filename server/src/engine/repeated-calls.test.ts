import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { callsIn, dataOf, play, tool } from "../../test/engine-run.ts";
import { scriptedModel } from "../../test/format-cases.ts";
import {
  type Behaviour,
  inBandError,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../test/model-server.ts";
import type { ProviderError } from "../../test/wire/index.ts";
import { elapsed } from "../base/clock.ts";
import { type CircuitPolicy, circuitPolicy } from "./circuit/circuit.ts";
import { type Circuits, createCircuits } from "./circuit/index.ts";
import { RunStopped } from "./journal.ts";
import { briefWait } from "./model-call/retries.ts";
import { defaultRetryPolicy, defaultTimeouts } from "./timeouts.ts";

/** Which failed model calls are repeated, how often, and how. */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

describe.each(["never", "always"] as const)("a tool call that Groq cannot read (%s)", (stream) => {
  const error = {
    message: "Failed to call a function. See 'failed_generation' for more details.",
    type: "invalid_request_error",
    code: "tool_use_failed",
    failed_generation: "<function=look{}sk-proj-abcdefgh1234>",
  };
  const settings = { stream };

  it.each([
    ["rejects with 400", status(400, { body: JSON.stringify({ error }) })],
    ["reports inside a 200", inBandError(error)],
  ])("and %s is requested again, because it is a property of the sample", async (_how, failed) => {
    server.script([failed, failed, says("done")]);
    const { outcome } = await play(server.url, { settings });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(server.requests).toHaveLength(3);
  });

  it("is shown, without keys, when all attempts failed", async () => {
    server.script(status(400, { body: JSON.stringify({ error }) }));
    const { outcome } = await play(server.url, { settings });
    expect(server.requests).toHaveLength(3);
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        message: `The model's provider answered 400: ${error.message} It generated: <function=look{}[secret]>`,
      },
    });
  });
});

it("a call that Groq rejects with 498, because it has no capacity, is repeated", async () => {
  server.script([status(498), says("done")]);
  expect((await play(server.url)).outcome).toMatchObject({ status: "succeeded", output: "done" });
});

describe("a call that is not streamed", () => {
  const streamed = () => server.requests.map(({ body }) => body.stream === true);
  const auto = { settings: { stream: "auto" as const } };

  const timedOut = [408, 504, 524].flatMap((code) => [
    [`${code}`, status(code)] as const,
    [`${code} in a 200`, inBandError({ code, message: "too slow" })] as const,
  ]);

  it.each(timedOut)(
    "and that a proxy ends with %s is streamed next, because the same wait would end the same way",
    async (_what, failed) => {
      server.script([failed, says("done")]);
      expect((await play(server.url, auto)).outcome).toMatchObject({ status: "succeeded" });
      expect(streamed()).toEqual([false, true]);
    },
  );

  it.each(timedOut)(
    "counts as lost after %s, because the provider may have generated its answer",
    async (_what, failed) => {
      server.script([failed, says("done")]);
      const { journal } = await play(server.url);
      expect(callsIn(journal)).toMatchObject([
        { outcome: "lost", usage: { estimated: true } },
        { outcome: "answered" },
      ]);
      expect(callsIn(journal)[0]?.usage.input_tokens).toBeGreaterThan(0);
    },
  );

  it.each(timedOut)("is not streamed after %s if the agent forbids it", async (_what, failed) => {
    server.script([failed, says("done")]);
    await play(server.url, { settings: { stream: "never" } });
    expect(streamed()).toEqual([false, false]);
  });

  it.each([
    ["streamed next if its connection breaks after more than 30 s", 31, true],
    ["not streamed next if its connection breaks earlier", 29, false],
  ])("is %s", async (_what, seconds, next) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const broken: Behaviour = async (...request) => {
      vi.advanceTimersByTime(seconds * 1_000);
      return withDelivery({ type: "cut", after: 0 }, says("never"))(...request);
    };
    server.script([broken, says("done")]);
    const { outcome } = await play(server.url, {
      ...auto,
      timeouts: { connectMs: 10_000, idleMs: 120_000, stepMs: 600_000 },
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(streamed()).toEqual([false, next]);
  });

  it("is streamed in all later steps and runs of the model for an hour, once a gateway has ended one", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const circuits = createCircuits(circuitPolicy(100));
    const key = { owner: "A", provider: "p", model: "m", origin: server.url };
    const later = { ...auto, timeouts: { ...defaultTimeouts, stepMs: 600_000 } };
    const looks = says({ calls: [{ id: "call_1", name: "look", arguments: "{}" }] });
    server.script([status(524), looks, says("done")]);
    await play(server.url, { ...later, circuit: circuits.of(key), tools: [tool("look")] });
    expect(streamed()).toEqual([false, true, true]);

    const others = [circuits.of(key), circuits.of({ ...key, model: "other" })];
    for (const circuit of others) await play(server.url, { ...later, circuit });
    await play(server.url, { settings: { stream: "never" }, circuit: circuits.of(key) });
    vi.advanceTimersByTime(3_600_000);
    await play(server.url, { ...later, circuit: circuits.of(key) });
    expect(streamed().slice(3)).toEqual([true, false, false, false]);
  });

  it("stays so after a quick failure", async () => {
    server.script([status(503), status(429), says("done")]);
    await play(server.url, auto);
    expect(streamed()).toEqual([false, false, false]);
  });
});

describe.each([
  ["a call that a rate limit rejects", status(429), "answered 429: scripted 429"],
  [
    "a call that a rate limit rejects inside a 200",
    inBandError({ code: 429, message: "busy" }),
    "reported an error: busy",
  ],
])("%s", (_what, limited, words) => {
  const many = (count: number) => Array.from({ length: count }, () => limited);

  it("is repeated beyond the usual attempts, and costs nothing", async () => {
    server.script([...many(12), says("done")]);
    const { outcome, journal } = await play(server.url);
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    const calls = callsIn(journal);
    expect(calls.map(({ usage }) => usage.input_tokens + usage.output_tokens > 0)).toEqual([
      ...many(12).map(() => false),
      true,
    ]);
    expect(dataOf(journal, "run.step")[0]?.retries).toBe(12);
  });

  it("fails no run of a burst, if the limit admits all of them after a while", async () => {
    const admitted = new Map<number, number>();
    server.script((...request) => {
      const window = Math.floor(elapsed() / 20);
      const count = (admitted.get(window) ?? 0) + 1;
      admitted.set(window, count);
      return (count <= 2 ? says("done") : limited)(...request);
    });
    const runs = await Promise.all(Array.from({ length: 30 }, () => play(server.url)));
    expect(runs.map(({ outcome }) => outcome?.status)).toEqual(runs.map(() => "succeeded"));
  });

  it("reserves once for all its attempts", async () => {
    let reservations = 0;
    server.script([...many(6), says("done")]);
    const limit = { maxOutputTokens: 100, isReserved: true, coversNext: () => true };
    await play(server.url, {
      limitAttempt: async () => {
        reservations += 1;
        return { ...limit, endOfTruncated: undefined };
      },
    });
    expect(reservations).toBe(1);
  });

  it("leaves other failures their attempts", async () => {
    server.script([status(500), ...many(6), status(500), says("done")]);
    expect((await play(server.url)).outcome).toMatchObject({ status: "succeeded" });
    server.script([status(500), ...many(6), status(500), ...many(2), status(502), says("done")]);
    expect((await play(server.url)).outcome).toMatchObject({
      status: "failed",
      error: { message: "The model's provider answered 502: scripted 502" },
    });
  });

  it.each([
    ["step", 2_000, Infinity],
    ["run", 60_000, 2_000],
  ])("fails when the time of the %s is over", async (_what, stepMs, deadlineMs) => {
    server.script(limited);
    const { outcome } = await play(server.url, {
      timeouts: { ...defaultTimeouts, stepMs },
      deadlineAt: elapsed() + deadlineMs,
      // Short waits, so that more than three requests fit into the time, even on a busy machine.
      retry: { maxAttempts: 3, baseWaitMs: 2, maxWaitMs: 4 },
    });
    expect(outcome).toMatchObject({ status: "failed" });
    expect(server.requests.length).toBeGreaterThan(3);
  });

  it.each(["cancelled", "drain"] as const)(
    "stops waiting when the run is stopped: %s",
    async (reason) => {
      const stop = new AbortController();
      server.script(limited);
      // The wait would take longer than a test can.
      vi.spyOn(Math, "random").mockReturnValue(0.99);
      const { outcome, released } = await play(server.url, {
        signal: stop.signal,
        retry: { maxAttempts: 3, baseWaitMs: 500_000, maxWaitMs: 500_000 },
        timeouts: defaultTimeouts,
        onDelta: ({ type }) => {
          if (type === "step_end") setTimeout(() => stop.abort(new RunStopped(reason)), 5);
        },
      });
      expect(outcome?.status).toBe(reason === "cancelled" ? "cancelled" : undefined);
      expect(released?.calls.map(({ usage }) => usage.input_tokens)).toEqual(
        reason === "drain" ? [0] : undefined,
      );
    },
  );

  it("sends its error to subscribers while the run waits", async () => {
    server.script([limited, says("done")]);
    const { deltas } = await play(server.url);
    expect(deltas.filter(({ type }) => type === "step_end")).toEqual([
      {
        ...{ type: "step_end", step: 1, complete: false },
        error: `The model's provider ${words}`,
      },
      { type: "step_end", step: 1, complete: false },
    ]);
  });
});

describe.each([
  ["with 429", (error: ProviderError) => status(429, { body: JSON.stringify({ error }) })],
  ["inside a 200", (error: ProviderError) => inBandError({ ...error, code: 429 })],
])("a call that is rejected %s", (_how, rejected) => {
  it.each([
    ["insufficient_quota", "pay first", 1],
    ["exceeded_current_quota_error", "pay first", 1],
    ["none", "Your team has used all available credits", 3],
    ["none", "quotaId: GenerateRequestsPerDayPerProjectPerModel-FreeTier", 3],
  ])(
    "for want of credit or until the next day ends the run: %s, %s",
    async (type, message, calls) => {
      server.script(rejected({ message, type }));
      const { outcome } = await play(server.url);
      expect(outcome).toMatchObject({ status: "failed" });
      expect(server.requests).toHaveLength(calls);
    },
  );

  it("waits as long as the body asks", async () => {
    const details = [{ retryDelay: "0.06s" }];
    server.script([rejected({ message: "busy", ...{ details } }), says("done")]);
    const startedAt = elapsed();
    expect((await play(server.url)).outcome?.status).toBe("succeeded");
    expect(elapsed() - startedAt).toBeGreaterThanOrEqual(59);
  });
});

const tokensPerMinute = {
  type: "tokens",
  code: "rate_limit_exceeded",
  message: "Rate limit reached for tokens per min. Please try again in 2.512s.",
};

it.each([
  ["openai", tokensPerMinute],
  ["openai-chat", tokensPerMinute],
  ["anthropic", { type: "rate_limit_error", message: "Your organization's limit is reached." }],
] as const)(
  "a rate limit that %s reports in a stream before the answer is waited for, and costs nothing",
  async (kind, error) => {
    const limited = Array.from({ length: 5 }, () => inBandError(error, {}));
    server.script([...limited, says("done")]);
    const { outcome, journal } = await play(server.url, {
      model: scriptedModel(kind, server.url),
      settings: { stream: "always" },
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(callsIn(journal).map(({ usage }) => usage.input_tokens)).toEqual([0, 0, 0, 0, 0, 10]);
  },
);

it("a rate limit in the middle of a streamed answer, which may be billed, counts as an attempt", async () => {
  server.script(inBandError({ code: 429, message: "busy" }));
  const { outcome, journal } = await play(server.url, { settings: { stream: "always" } });
  expect(outcome).toMatchObject({ status: "failed" });
  expect(callsIn(journal).map((call) => call.outcome)).toEqual(["lost", "lost", "lost"]);
});

describe("the capacity for runs that wait for a rate limit", () => {
  const circuitsFor = (maxWaiting: number, changed: Partial<CircuitPolicy> = {}) =>
    createCircuits({ ...circuitPolicy(100), ...changed, maxWaiting });
  const circuitOf = (circuits: Circuits) =>
    circuits.of({ owner: "A", provider: "p", model: "m", origin: server.url });

  it("lets a run without capacity repeat its call as often as after other failures", async () => {
    const circuits = circuitsFor(1);
    const circuit = circuitOf(circuits);
    expect(circuit.startWaiting()).toBe(true);
    expect([circuits.rateLimitedRuns, circuits.waitingRuns]).toEqual([1, 0]);
    server.script(status(429));
    expect((await play(server.url, { circuit })).outcome).toMatchObject({ status: "failed" });
    expect(server.requests).toHaveLength(3);

    circuit.stopWaiting();
    server.script([...Array.from({ length: 6 }, () => status(429)), says("done")]);
    expect((await play(server.url, { circuit })).outcome).toMatchObject({ status: "succeeded" });
    // The capacity that the run has used is free again.
    expect(circuit.startWaiting()).toBe(true);
    expect([circuits.rateLimitedRuns, circuits.waitingRuns]).toEqual([1, 0]);
  });

  it("fails a run without capacity at once if the provider asks it to wait long", async () => {
    const circuit = circuitOf(circuitsFor(1));
    expect(circuit.startWaiting()).toBe(true);
    server.script(status(429, { headers: { "retry-after": "60" } }));
    const { outcome } = await play(server.url, { circuit, timeouts: defaultTimeouts });
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "model_error",
        message:
          "The model's provider answered 429: scripted 429. It asks to wait 60 s, and too many runs already wait for models.",
      },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("is kept by a run until its call ends, also during its attempts", async () => {
    const circuit = circuitOf(circuitsFor(1));
    const taken: boolean[] = [];
    const whileCalled: Behaviour = (...request) => {
      taken.push(circuit.startWaiting());
      return (taken.length < 8 ? status(429) : says("done"))(...request);
    };
    server.script([status(429), ...Array.from({ length: 8 }, () => whileCalled)]);
    expect((await play(server.url, { circuit })).outcome).toMatchObject({ status: "succeeded" });
    expect(taken).toEqual(Array.from({ length: 8 }, () => false));
    expect(circuit.startWaiting()).toBe(true);
  });

  it("fails no run of a burst that got it, although it is too small for all of them", async () => {
    const circuits = circuitsFor(8);
    const circuit = circuitOf(circuits);
    const runs: Promise<{ readonly hadCapacity: boolean; readonly status?: string }>[] = [];
    const start = async () => {
      let hadCapacity = false;
      const startWaiting = () => {
        const isTaken = circuit.startWaiting();
        hadCapacity ||= isTaken;
        return isTaken;
      };
      const { outcome } = await play(server.url, { circuit: { ...circuit, startWaiting } });
      return { hadCapacity, status: outcome?.status ?? "none" };
    };
    const admitted = new Map<number, number>();
    server.script((...request) => {
      if (runs.length < 60) runs.push(start());
      const window = Math.floor(elapsed() / 20);
      const count = (admitted.get(window) ?? 0) + 1;
      admitted.set(window, count);
      // Nothing is admitted before all runs have started: on a slow machine they would never be too
      // many at once.
      return (runs.length === 60 && count <= 2 ? says("done") : status(429))(...request);
    });
    await start();
    for (const run of runs) await run;
    const waited = (await Promise.all(runs)).filter(({ hadCapacity }) => hadCapacity);
    expect(waited.length).toBeGreaterThanOrEqual(4);
    expect(waited.map((run) => run.status)).toEqual(waited.map(() => "succeeded"));
    expect(circuits.rateLimitedRuns).toBe(0);
  });

  it("of a run that has it also suffices if its provider then is down", async () => {
    const circuits = circuitsFor(1, { failureThreshold: 1, basePauseMs: 2, maxPauseMs: 4 });
    server.script([status(429), status(503), says("back")]);
    const { outcome } = await play(server.url, { circuit: circuitOf(circuits) });
    expect(outcome).toMatchObject({ status: "succeeded", output: "back" });
    expect([circuits.rateLimitedRuns, circuits.waitingRuns]).toEqual([0, 0]);
  });
});

it.each([
  [1, undefined, 500],
  [20, undefined, 5_000],
  [1, 3_000, 3_500],
  [20, 3_000, 5_000],
])("a run without capacity waits briefly after attempt %i: %s, %i", (attempt, asked, waitMs) => {
  expect(briefWait(defaultRetryPolicy, attempt, asked, () => 1)).toBe(waitMs);
});
