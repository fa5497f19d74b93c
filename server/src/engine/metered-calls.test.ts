import { createServer } from "node:net";
import type { NewEvent } from "@beckon/contract";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it, test } from "vitest";
import {
  callsIn,
  dataOf,
  type MemoryJournal,
  memoryJournal,
  type Played,
  play,
  tool,
} from "../../test/engine-run.ts";
import { scriptedModel } from "../../test/format-cases.ts";
import {
  type Behaviour,
  blackHole,
  body,
  inBandError,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../test/model-server.ts";
import { createEgress, createLeanFetch } from "../base/egress/index.ts";
import { costOf, usageOf } from "./history.ts";
import { RunStopped } from "./journal.ts";
import { sumMicros } from "./price.ts";
import type { RunRequest } from "./run-request.ts";
import { defaultTimeouts } from "./timeouts.ts";
import { totalUsage } from "./usage.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

/** One micro-dollar for an input token, and two for an output token. */
const priceOf = ({ input_tokens: input, output_tokens: output }: Tokens) => ({
  micros: input + 2 * output,
  standardMicros: null,
  origin: "workspace" as const,
});
type Tokens = Readonly<Record<"input_tokens" | "output_tokens", number>>;

const outcomes = (journal: MemoryJournal) => callsIn(journal).map(({ outcome }) => outcome);
const tokens = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  cached_input_tokens: 0,
});
const noTokens = tokens(0, 0);
const answeredUsage = tokens(10, 5);
const longCall = { id: "call_1", name: "write", arguments: "x".repeat(1_000) };

/**
 * Expects that the metered calls of a run add up to its usage and cost, and that the metered calls
 * of each event add up to the usage and cost of that event.
 */
function expectSums({ journal, outcome }: Played): void {
  const calls = callsIn(journal);
  const { estimated: _, ...usage } = totalUsage(calls.map((call) => call.usage));
  expect(outcome).toMatchObject({
    usage,
    cost_micros: sumMicros(calls.map(({ price }) => price.micros)),
  });
  for (const write of journal.writes) {
    write.entries.forEach((event, index) => {
      if (event.type !== "run.step" && event.type !== "run.step_lost") return;
      const reported = write.calls.filter(({ entry }) => entry === index);
      expect(reported.length).toBeGreaterThan(0);
      expect(event.data.usage).toEqual(totalUsage(reported.map(({ call }) => call.usage)));
      expect(event.data.cost_micros).toEqual(
        sumMicros(reported.map(({ call }) => call.price.micros)),
      );
    });
  }
}

describe.each(["never", "always"] as const)("the calls of a run, streamed: %s,", (stream) => {
  const settings = { stream };
  const run = async (
    script: Behaviour | readonly Behaviour[],
    rest: Parameters<typeof play>[1],
  ) => {
    server.script(script);
    const played = await play(server.url, { settings, priceOf, ...rest });
    expectSums(played);
    return played;
  };

  it("are metered as the provider reports them, with their price", async () => {
    const { journal, outcome } = await run([says("hi")], {});
    expect(callsIn(journal)).toEqual([
      {
        kind: "model",
        step: 1,
        outcome: "answered",
        modelName: "scripted/model",
        usage: answeredUsage,
        price: { micros: 20, standardMicros: null, origin: "workspace" },
      },
    ]);
    expect(dataOf(journal, "run.step")).toMatchObject([{ usage: answeredUsage, cost_micros: 20 }]);
    expect(outcome?.cost_micros).toBe(20);
  });

  it.each([429, 500, 503])("cost nothing if they got the status %s", async (code) => {
    const { journal, outcome } = await run([status(code), status(code), says("hi")], {});
    expect(callsIn(journal)).toMatchObject([
      { outcome: "failed", usage: noTokens, price: { micros: 0, origin: null } },
      { outcome: "failed", usage: noTokens, price: { micros: 0, origin: null } },
      { outcome: "answered", usage: answeredUsage, price: { micros: 20 } },
    ]);
    expect(outcome?.usage).toEqual(answeredUsage);
    expect(journal.writes).toHaveLength(1);
  });

  it("cost what an error reports", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1 };
    const overloaded = JSON.stringify({ error: { message: "overloaded" }, usage });
    const { journal } = await run([status(503, { body: overloaded }), says("hi")], {});
    expect(callsIn(journal)).toMatchObject([
      { outcome: "failed", usage: tokens(7, 1), price: { micros: 9 } },
      { outcome: "answered" },
    ]);
  });

  it("are lost, with an estimate, if the connection breaks after they were sent", async () => {
    const cut = withDelivery({ type: "cut", after: 400 }, says("x".repeat(2_000)));
    const { journal, outcome } = await run([cut, says("hi")], {});
    expect(outcomes(journal)).toEqual(["lost", "answered"]);
    expect(callsIn(journal)[0]?.usage).toMatchObject({ estimated: true });
    expect(callsIn(journal)[0]?.usage.input_tokens).toBeGreaterThan(0);
    expect(outcome?.usage.estimated).toBe(true);
  });

  it("are reported at the end of a run that an unexpected error ends, and the error is thrown", async () => {
    server.script(withDelivery({ type: "cut", after: 400 }, says("x".repeat(2_000))));
    const journal = memoryJournal();
    const unexpected = new Error("the database does not respond");
    const limitAttempt: RunRequest["limitAttempt"] = ({ earlier }) => {
      if (earlier.length > 0) throw unexpected;
      return undefined;
    };
    await expect(play(server.url, { journal, priceOf, limitAttempt })).rejects.toBe(unexpected);
    expect(callsIn(journal)).toMatchObject([{ step: 1, outcome: "lost" }]);
    expect(journal.outcome).toMatchObject({
      status: "failed",
      error: { code: "interrupted" },
      usage: callsIn(journal)[0]?.usage,
    });
  });

  it("are not bounded by a limit that was deleted after the first one", async () => {
    const others = { isReserved: true, coversNext: () => false, endOfTruncated: undefined };
    const limits = [Promise.resolve({ maxOutputTokens: 50, ...others }), undefined];
    await run([status(503), says("hi")], { limitAttempt: () => limits.shift() });
    expect(server.requests.map(({ body: sent }) => sent?.max_tokens)).toEqual([50, undefined]);
  });

  it("are lost if no answer arrives in time", async () => {
    const { journal, outcome } = await run([blackHole], {
      timeouts: { ...defaultTimeouts, stepMs: 100 },
      retry: { maxAttempts: 1, baseWaitMs: 1, maxWaitMs: 1 },
    });
    expect(callsIn(journal)).toMatchObject([{ outcome: "lost", usage: { estimated: true } }]);
    expect(outcome).toMatchObject({ status: "failed", error: { code: "model_timeout" } });
    expect(outcome?.usage.input_tokens).toBeGreaterThan(0);
    expect(journal.entries).toEqual([]);
  });

  it("are not metered if the connection was refused", async () => {
    const closed = await closedPort();
    const { journal, outcome } = await run([], {
      model: scriptedModel("openai-compatible", `http://127.0.0.1:${closed}/v1`),
    });
    expect(callsIn(journal)).toEqual([]);
    expect(outcome).toMatchObject({ status: "failed", usage: noTokens, cost_micros: 0 });
  });

  it("are not metered if no connection was opened in time", async () => {
    // Behaves like a server whose listen queue is full: the connection is not opened in time.
    const transport = createLeanFetch(
      { connectTimeoutMs: 20, headersTimeoutMs: 1_000, bodyTimeoutMs: 1_000 },
      (_options, callback) => {
        const late = Object.assign(new Error("late"), { code: "UND_ERR_CONNECT_TIMEOUT" });
        setTimeout(() => callback(late, null), 5);
      },
    );
    const { journal, outcome } = await run([], {
      model: scriptedModel("openai-compatible", server.url, transport),
    });
    expect(callsIn(journal)).toEqual([]);
    expect(outcome).toMatchObject({ error: { code: "model_timeout" }, cost_micros: 0 });
    await transport.close();
  });

  it("are not metered if the URL is not allowed", async () => {
    const egress = createEgress({
      connectTimeoutMs: 1_000,
      headersTimeoutMs: 1_000,
      bodyTimeoutMs: 1_000,
      totalTimeoutMs: 1_000,
      allow: [],
    });
    // The egress rules reject port 6000 before the request is made, and a private address when the
    // connection is opened.
    for (const host of ["93.184.215.14:6000", "10.0.0.1"]) {
      const { journal, outcome } = await run([], {
        model: scriptedModel("openai-compatible", `http://${host}/v1`, egress),
      });
      expect(callsIn(journal)).toEqual([]);
      expect(outcome).toMatchObject({ status: "failed", usage: noTokens, cost_micros: 0 });
    }
    await egress.close();
  });

  it("of a run whose attempts all failed are reported by the end of the run", async () => {
    const { journal, outcome } = await run(status(500), {});
    expect(outcomes(journal)).toEqual(["failed", "failed", "failed"]);
    expect(journal.writes).toMatchObject([{ end: true, entries: [] }]);
    expect(outcome).toMatchObject({ status: "failed", usage: noTokens, cost_micros: 0 });
  });

  it("that got an error in place of an answer cost nothing", async () => {
    if (stream === "always") return;
    const { journal } = await run([inBandError({ message: "overloaded" }), says("hi")], {});
    expect(callsIn(journal)).toMatchObject([
      { outcome: "failed", usage: noTokens },
      { outcome: "answered" },
    ]);
  });

  it.each([
    ["an answer", { text: "half a te" }, 3],
    ["a tool call", { text: "", calls: [longCall] }, 250],
  ])("that got an error in the middle of %s are lost", async (_what, begun, output) => {
    if (stream === "never") return;
    const { journal } = await run([inBandError({ message: "overloaded" }, begun), says("hi")], {});
    const usage = { output_tokens: output, estimated: true };
    expect(callsIn(journal)).toMatchObject([{ outcome: "lost", usage }, { outcome: "answered" }]);
  });

  it("whose answer cannot be used cost what the provider reports", async () => {
    const unusable = says({ text: "", calls: [], finish: "tool_calls" });
    const { journal } = await run([unusable, says({ text: "" }), says("hi")], {});
    expect(callsIn(journal)).toMatchObject([
      { outcome: "failed", usage: answeredUsage, price: { micros: 20 } },
      { outcome: "failed", usage: answeredUsage, price: { micros: 20 } },
      { outcome: "answered" },
    ]);
  });

  it("whose answer cannot be read are lost", async () => {
    const { journal } = await run([body("<html>", "text/html"), says("hi")], {});
    expect(outcomes(journal)).toEqual(["lost", "answered"]);
  });

  it.each([
    ["more than the text can have", { prompt_tokens: 150_000, completion_tokens: 1 }],
    ["nothing", null],
    ["a negative count", { prompt_tokens: -1, completion_tokens: 5 }],
  ] as const)("with %s as reported usage are estimated", async (_what, usage) => {
    const { journal, outcome } = await run([says({ text: "twelve chars", usage })], {});
    expect(callsIn(journal)).toMatchObject([
      { outcome: "answered", usage: { output_tokens: 3, estimated: true } },
    ]);
    expect(outcome?.usage.input_tokens).toBeLessThan(100);
    expect(outcome?.usage.estimated).toBe(true);
  });

  it("with a large usage are metered as reported if it is plausible", async () => {
    const usage = { prompt_tokens: 99_000, completion_tokens: 900 };
    const reasoned = await run([says({ text: "hi", usage })], {});
    expect(reasoned.outcome?.usage).toEqual(tokens(99_000, 900));
    // Each of the 70,000 characters takes three bytes, and each byte can be a token. With 128,000
    // reasoning tokens (`maxUnseenTokens`), up to 338,000 tokens are plausible.
    const long = { prompt_tokens: 280_000, completion_tokens: 9 };
    const { outcome } = await run([says({ text: "hi", usage: long })], {
      input: "語".repeat(70_000),
    });
    expect(outcome?.usage).toEqual(tokens(280_000, 9));
  });

  it("show reasoning and cached tokens as parts of the counts", async () => {
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 20,
      cached_tokens: 8,
      reasoning_tokens: 12,
    };
    const { outcome, journal } = await run([says({ text: "hi", usage })], {});
    const expected = { ...tokens(30, 20), cached_input_tokens: 8, reasoning_tokens: 12 };
    expect(outcome?.usage).toEqual(expected);
    expect(dataOf(journal, "run.step")[0]?.usage).toEqual(expected);
  });

  it("have no cost if no price is known, and neither has the run", async () => {
    const unknown = { micros: null, standardMicros: null, origin: null };
    server.script([status(429), says("hi")]);
    const { journal, outcome } = await play(server.url, { settings, priceOf: () => unknown });
    expect(callsIn(journal).map(({ price }) => price.micros)).toEqual([0, null]);
    expect(dataOf(journal, "run.step")[0]?.cost_micros).toBeNull();
    expect(outcome?.cost_micros).toBeNull();
  });

  it.each(["cancelled", "deadline"] as const)(
    "in flight when the run is stopped (%s) are lost, with the attempts before",
    async (reason) => {
      const stop = new AbortController();
      const { journal } = await run([status(500), stopping(stop, reason)], {
        signal: stop.signal,
      });
      expect(outcomes(journal)).toEqual(["failed", "lost"]);
      expect(dataOf(journal, "run.step_lost")).toMatchObject([
        { step: 1, usage: { estimated: true }, cost_micros: expect.any(Number) },
      ]);
    },
  );

  it("that failed before the run was stopped are reported by its end", async () => {
    const stop = new AbortController();
    const played = run([status(500)], {
      signal: stop.signal,
      retry: { maxAttempts: 3, baseWaitMs: 60_000, maxWaitMs: 60_000 },
      onDelta: (delta) => {
        // One turn of the event loop later, the wait before the next attempt has begun. Only then
        // the run is stopped.
        if (delta.type === "step_end")
          setImmediate(() => setImmediate(() => stop.abort(new RunStopped("cancelled"))));
      },
      deadlineAt: Number.POSITIVE_INFINITY,
      timeouts: { ...defaultTimeouts, stepMs: 600_000 },
    });
    const { journal, outcome } = await played;
    expect(outcomes(journal)).toEqual(["failed"]);
    expect(dataOf(journal, "run.step_lost")).toEqual([]);
    expect(outcome).toMatchObject({ status: "cancelled", usage: noTokens, cost_micros: 0 });
  });
});

test("the model of Anthropic reports tokens that it writes to its cache", async () => {
  const usage = {
    input_tokens: 5,
    output_tokens: 7,
    cache_read_input_tokens: 11,
    cache_creation_input_tokens: 13,
  };
  const answer = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "model",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage,
  };
  server.script([body(JSON.stringify(answer))]);
  const { outcome } = await play(server.url, { model: scriptedModel("anthropic", server.url) });
  expect(outcome?.usage).toEqual({
    input_tokens: 29,
    output_tokens: 7,
    cached_input_tokens: 11,
    cache_write_tokens: 13,
  });
});

test("a write that is rejected is not reported twice", async () => {
  server.script([
    says({ calls: [{ id: "c1", name: "act", arguments: "{}" }] }),
    says("never asked for"),
  ]);
  const journal = memoryJournal({
    gate: (_entries, { unlessCancelled }) => {
      if (unlessCancelled) throw new RunStopped("cancelled");
    },
  });
  const played = await play(server.url, { tools: [tool("act")], journal, priceOf });
  expect(outcomes(journal)).toEqual(["answered"]);
  expect(dataOf(journal, "run.step")).toHaveLength(1);
  expectSums(played);
});

test("a resumed run adds the cost of its journal, which is unknown if an older version wrote it", async () => {
  server.script([says({ calls: [{ id: "c1", name: "act", arguments: "{}" }] }), says("done")]);
  const tools = [tool("act")];
  const { journal } = await play(server.url, { tools, priceOf });
  const initial = journal.entries.slice(0, 3);
  const resume = (events: readonly NewEvent[]) =>
    play(server.url, {
      tools,
      priceOf,
      resumed: true,
      journal: memoryJournal({ initial: events }),
    });
  const resumed = await resume(initial);
  expect(outcomes(resumed.journal)).toEqual(["lost", "answered"]);
  expect(resumed.outcome?.cost_micros).toBe(
    sumMicros([costOf(initial), ...callsIn(resumed.journal).map(({ price }) => price.micros)]),
  );
  const old = initial.map((event): NewEvent => {
    if (event.type !== "run.step") return event;
    const { cost_micros: _, ...data } = event.data;
    return { type: event.type, data };
  });
  expect((await resume(old)).outcome?.cost_micros).toBeNull();
});

/** How the model behaves at one attempt. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  answers: says({ text: "done", usage: { prompt_tokens: 21, completion_tokens: 4 } }),
  calls: says({ calls: [{ id: "c1", name: "act", arguments: "{}" }] }),
  "calls, without usage": says({
    calls: [{ id: "c2", name: "act", arguments: "{}" }],
    usage: null,
  }),
  "answers, with absurd usage": says({
    text: "done",
    usage: { prompt_tokens: 900_000_000, completion_tokens: 4 },
  }),
  "too many requests": status(429),
  "server error": status(500),
  "bad request": status(400),
  "in-band error": inBandError({ message: "overloaded" }),
  reset: withDelivery({ type: "cut", after: 0 }, says("never seen")),
  cut: withDelivery({ type: "cut", after: 500 }, says("x".repeat(3_000))),
  unreadable: body("<html>", "text/html"),
};

test("whatever the model does, the sums of the calls are those of the run, also after failovers", async () => {
  const script = fc.array(fc.constantFrom(...Object.keys(behaviours)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      script,
      fc.boolean(),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (names, streamed, lostAfter) => {
        const options = {
          settings: { stream: streamed ? ("always" as const) : ("never" as const) },
          tools: [tool("act")],
          priceOf,
        };
        const playScript = () =>
          server.script([...names.flatMap((name) => behaviours[name] ?? []), says("the end")]);
        server.reset();
        playScript();
        const whole = await play(server.url, options);
        expectSums(whole);

        // The process is lost after some of these writes. Another process resumes the run from the
        // writes that survived.
        const kept = whole.journal.writes.filter(({ end }) => !end);
        const survived = kept.slice(0, Math.round(lostAfter * kept.length));
        const initial = survived.flatMap(({ entries }) => entries);
        server.reset();
        playScript();
        const resumed = await play(server.url, {
          ...options,
          resumed: true,
          journal: memoryJournal({ initial }),
        });
        const calls = [
          ...survived.flatMap((write) => write.calls.map(({ call }) => call)),
          ...callsIn(resumed.journal),
        ];
        const { estimated: _, ...usage } = totalUsage(calls.map((call) => call.usage));
        expect(resumed.outcome).toMatchObject({
          usage,
          cost_micros: sumMicros(calls.map(({ price }) => price.micros)),
        });
        // The steps in the journal can show less than the run's usage, because the event that ends
        // the run can report further calls.
        const shown = usageOf(resumed.journal.entries);
        expect(shown.input_tokens).toBeLessThanOrEqual(usage.input_tokens);
      },
    ),
    { numRuns: 60 },
  );
});

/** Stops the run when the request arrives, and never responds. */
function stopping(stop: AbortController, reason: "cancelled" | "deadline"): Behaviour {
  return (request, index) => {
    setImmediate(() => stop.abort(new RunStopped(reason)));
    return blackHole(request, index);
  };
}

async function closedPort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
