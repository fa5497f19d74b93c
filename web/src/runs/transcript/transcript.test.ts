import type { JournalEvent, WatchedEvent } from "@beckon/client";
import { expect, test } from "vitest";
import { failedAttemptText } from "../model-output.ts";
import { isEnded } from "../patch-run.ts";
import { addEvent, allSteps, durationOf, emptyTranscript, isOutputInSteps } from "./transcript.ts";

const time = (second: number) => new Date(Date.UTC(2026, 10, 3, 14, 2, second)).toISOString();
const entry = (seq: number, type: JournalEvent["type"], data: JournalEvent["data"] = {}) =>
  ({
    id: `evt_${seq}`,
    run_id: "run_1",
    seq,
    type,
    version: 1,
    time: time(seq),
    data,
  }) as JournalEvent;
const delta = (text: string, step = 1, kind: "text" | "reasoning" = "text"): WatchedEvent => ({
  type: "run.output.delta",
  run_id: "run_1",
  data: { step, kind, text },
});
const start = (step = 1): WatchedEvent => ({
  type: "run.output.start",
  run_id: "run_1",
  data: { step, attempt: 1 },
});
const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 };
const after = (...events: WatchedEvent[]) => events.reduce(addEvent, emptyTranscript);

test("the output of the model is shown as it is written, and replaced by the whole step", () => {
  const live = after(start(), delta("hm", 1, "reasoning"), delta("Hel"), delta("lo"));
  expect(live.steps).toEqual([]);
  expect(allSteps(live)).toMatchObject([{ step: 1, text: "Hello", reasoning: "hm", tools: [] }]);
  const parts = [{ type: "text", text: "Hello!" }];
  const finished = addEvent(live, entry(3, "run.step", { step: 1, parts }));
  expect(allSteps(finished)).toEqual([{ step: 1, text: "Hello!", reasoning: "", tools: [] }]);
  const large = addEvent(live, entry(3, "run.step", { step: 1, artifact_id: "art_1", bytes: 9 }));
  expect(allSteps(large)).toEqual([{ step: 1, text: "Hello", reasoning: "hm", tools: [] }]);
});

test("a failed attempt is explained until the next one begins", () => {
  const end = (failed: { readonly error?: string } = {}): WatchedEvent => ({
    type: "run.output.end",
    run_id: "run_1",
    data: { step: 1, complete: failed.error === undefined, ...failed },
  });
  const explained = (...events: WatchedEvent[]) => {
    const { live } = after(...events);
    return live && failedAttemptText(live);
  };
  expect(explained(start(), end({ error: "It answered 429." }))).toBe(
    "Attempt 1 failed, and the model is called again later: It answered 429.",
  );
  expect(explained(start(), end({ error: "It answered 429." }), start())).toBeUndefined();
  expect(explained(start(), delta("Hello"), end())).toBeUndefined();
});

test("an output that an earlier step shows is not shown again", () => {
  const step = (seq: number, text: string) =>
    entry(seq, "run.step", { step: seq, parts: [{ type: "text", text }] });
  const finished = (output: string, ...texts: string[]) =>
    isOutputInSteps(
      after(
        ...texts.map((text, index) => step(index + 1, text)),
        entry(9, "run.finished", { output, usage }),
      ),
    );
  expect(finished("Hello", "Hello")).toBe(true);
  expect(finished("Hello", "Hello", "")).toBe(true);
  expect(finished("Hello", "")).toBe(false);
  expect(finished("", "")).toBe(false);
});

test("output whose beginning was missed is left out, and another attempt begins anew", () => {
  expect(allSteps(after(delta("lo")))).toEqual([]);
  expect(allSteps(after(start(), delta("Hal"), start(), delta("Hel")))).toMatchObject([
    { text: "Hel" },
  ]);
  const resumed = after(start(), delta("Hal"), entry(4, "run.resumed", { attempt: 2 }));
  expect(allSteps(resumed)).toEqual([]);
});

test("a tool call has its arguments, then its result and duration", () => {
  const call = { type: "tool_call", call_id: "c1", tool: "clock", arguments: '{"zone":"UTC"}' };
  const called = after(entry(2, "run.step", { step: 1, parts: [call] }));
  expect(called.steps[0]?.tools).toEqual([
    { callId: "c1", tool: "clock", arguments: '{"zone":"UTC"}' },
  ]);
  const result = { call_id: "c1", tool: "clock", outcome: "ok", result: { a: 1 }, duration_ms: 8 };
  const making = addEvent(called, entry(3, "run.tool_call", { ...call, arguments: {} }));
  expect(making.steps[0]?.tools).toMatchObject([{ callId: "c1", isCalled: true }]);
  const finished = addEvent(making, entry(4, "run.tool_result", result));
  expect(finished.steps[0]?.tools).toMatchObject([
    { callId: "c1", isCalled: true, outcome: "ok", result: { a: 1 }, durationMs: 8 },
  ]);
});

test("the arguments stay as the model wrote them", () => {
  const call = { type: "tool_call", call_id: "c1", tool: "read", arguments: '{"price": 1.10}' };
  const { steps } = after(
    entry(2, "run.step", { step: 1, parts: [call] }),
    entry(3, "run.tool_call", { ...call, arguments: JSON.parse(call.arguments) }),
  );
  expect(steps[0]?.tools).toMatchObject([{ isCalled: true, arguments: call.arguments }]);
});

test("without the model's answer, the arguments are those of the call", () => {
  const { steps } = after(
    entry(2, "run.step", { artifact_id: "art_1", bytes: 70_000 }),
    entry(3, "run.tool_call", { call_id: "c1", tool: "read", arguments: { id: 1 } }),
  );
  expect(steps[0]?.tools).toMatchObject([{ callId: "c1", arguments: '{"id":1}' }]);
});

test("large results of parallel calls stay with their calls, in any order of their ends", () => {
  const call = (id: string) => ({ type: "tool_call", call_id: id, tool: "read", arguments: id });
  const large = (id: string, artifact: string) => ({
    ...{ step: 1, call_id: id, tool: "read", outcome: "error", duration_ms: 8 },
    ...{ artifact_id: artifact, bytes: 70_000 },
  });
  const { steps } = after(
    entry(2, "run.step", { step: 1, parts: [call("c1"), call("c2"), call("c3")] }),
    entry(3, "run.tool_result", large("c2", "art_2")),
    entry(3, "run.tool_result", large("c2", "art_2")),
    entry(4, "run.tool_result", large("c1", "art_1")),
  );
  const use = (id: string, artifactId: string) => ({
    ...{ callId: id, tool: "read", arguments: id, outcome: "error", durationMs: 8 },
    large: { artifactId, bytes: 70_000 },
  });
  expect(steps[0]?.tools).toEqual([
    use("c1", "art_1"),
    use("c2", "art_2"),
    { callId: "c3", tool: "read", arguments: "c3" },
  ]);
});

test("a rejected call is shown although the model's answer was too large for its event", () => {
  const { steps } = after(
    entry(2, "run.step", { step: 1, artifact_id: "art_1", bytes: 70_000 }),
    entry(3, "run.tool_call", { call_id: "c1", tool: "read", arguments: {} }),
    entry(4, "run.tool_result", { call_id: "c2", tool: "none", outcome: "refused", result: "No." }),
  );
  expect(steps[0]?.tools).toEqual([
    { callId: "c1", tool: "read", arguments: "{}", isCalled: true },
    { callId: "c2", tool: "none", outcome: "refused", result: "No." },
  ]);
});

test("a small result of a call whose arguments were stored without its id belongs to that call", () => {
  const { steps } = after(
    entry(2, "run.step", { artifact_id: "art_1", bytes: 70_000 }),
    entry(3, "run.tool_call", { artifact_id: "art_2", bytes: 70_000 }),
    entry(4, "run.tool_result", { call_id: "c1", tool: "read", outcome: "ok", result: 1 }),
  );
  expect(steps[0]?.tools).toMatchObject([{ outcome: "ok", result: 1, isCalled: true }]);
});

test("a result that is too large for its event belongs to the call that waits for one", () => {
  const call = (id: string) => ({ type: "tool_call", call_id: id, tool: "read", arguments: "{}" });
  const { steps } = after(
    entry(2, "run.step", { step: 1, parts: [call("c1"), call("c2")] }),
    entry(3, "run.tool_result", { call_id: "c1", outcome: "ok", result: 1, duration_ms: 1 }),
    entry(4, "run.tool_result", { artifact_id: "art_1", bytes: 70_000 }),
  );
  expect(steps[0]?.tools[1]).toMatchObject({
    callId: "c2",
    outcome: "ok",
    large: { artifactId: "art_1", bytes: 70_000 },
  });
});

test("a large result that was assigned to the wrong call moves when that call's own result arrives", () => {
  const call = (id: string) => ({ type: "tool_call", call_id: id, tool: "read", arguments: "{}" });
  const { steps } = after(
    entry(2, "run.step", { step: 1, parts: [call("c1"), call("c2"), call("c3")] }),
    entry(3, "run.tool_result", { artifact_id: "art_1", bytes: 70_000 }),
    entry(4, "run.tool_result", { call_id: "c1", outcome: "error", result: 1, duration_ms: 1 }),
    entry(5, "run.tool_result", { call_id: "c2", outcome: "ok", result: 2, duration_ms: 1 }),
  );
  expect(steps[0]?.tools).toMatchObject([
    { callId: "c1", outcome: "error", result: 1 },
    { callId: "c2", outcome: "ok", result: 2 },
    { callId: "c3", outcome: "ok", large: { artifactId: "art_1", bytes: 70_000 } },
  ]);
  expect(steps[0]?.tools.map(({ large }) => large === undefined)).toEqual([true, true, false]);
});

test("the end has output, tokens, cost and duration, and nothing follows it", () => {
  const end = after(
    entry(1, "run.queued"),
    entry(2, "run.started"),
    entry(5, "run.finished", { output: "Hello", usage, cost_micros: null }),
  );
  expect(end).toMatchObject({ status: "succeeded", output: "Hello", usage, cost_micros: null });
  expect([isEnded(end), durationOf(end)]).toEqual([true, 3_000]);
  expect(addEvent(end, start())).toBe(end);
});

test("a run that a stopping process has released is queued until it is resumed", () => {
  const released = after(entry(1, "run.started"), start(), entry(2, "run.queued"));
  expect(released.status).toBe("queued");
  expect(addEvent(released, entry(3, "run.resumed", { attempt: 1 })).status).toBe("running");
});

test("a failed run keeps what it has done and says why it failed", () => {
  const error = { code: "model_error", message: "The provider answered 400." };
  const end = after(
    entry(1, "run.step", { step: 1, parts: [{ type: "text", text: "One" }] }),
    start(2),
    delta("Tw", 2),
    entry(2, "run.failed", { error, usage, cost_micros: 12 }),
  );
  expect(end).toMatchObject({ status: "failed", error, cost_micros: 12 });
  expect(allSteps(end).map(({ text }) => text)).toEqual(["One"]);
});

test("events that are sent again change nothing", () => {
  const call = { type: "tool_call", call_id: "c1", tool: "clock", arguments: "{}" };
  const events = [
    entry(1, "run.queued"),
    entry(2, "run.started"),
    entry(3, "run.step", { step: 1, parts: [call] }),
    entry(4, "run.tool_result", { call_id: "c1", outcome: "ok", result: 1, duration_ms: 1 }),
  ];
  expect(after(...events, ...events)).toEqual(after(...events));
});
