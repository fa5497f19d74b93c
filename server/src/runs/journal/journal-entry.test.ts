import type { NewEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { toEntry } from "./journal-entry.ts";

const large = "x".repeat(100_000);
const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 };
const step = {
  step: 2,
  model: "demo/echo",
  finish_reason: "stop" as const,
  usage,
  cost_micros: 7,
  duration_ms: 40,
  retries: 1,
};
const call = { step: 2, call_id: "c1", tool: "read" };
const dataOf = (event: NewEvent) => JSON.parse(toEntry(event).data);

test.each<[string, NewEvent, object]>([
  ["a step", { type: "run.step", data: { ...step, parts: [{ type: "text", text: large }] } }, step],
  [
    "a tool call",
    { type: "run.tool_call", data: { ...call, arguments: { text: large }, idempotency_key: "k" } },
    { ...call, idempotency_key: "k" },
  ],
  [
    "a tool result",
    { type: "run.tool_result", data: { ...call, outcome: "error", result: large, duration_ms: 3 } },
    { ...call, outcome: "error", duration_ms: 3 },
  ],
  [
    "the end of a run",
    { type: "run.finished", data: { output: large, usage, cost_micros: null } },
    { usage, cost_micros: null },
  ],
])("%s above 64 KiB keeps its small fields, and its artifact has all of them", (_, event, kept) => {
  const { artifact } = toEntry(event);
  expect(JSON.parse(artifact?.content ?? "")).toEqual(event.data);
  expect(dataOf(event)).toEqual({
    ...kept,
    artifact_id: expect.stringMatching(/^art_/),
    bytes: Buffer.byteLength(JSON.stringify(event.data)),
  });
});

test.each<[string, NewEvent]>([
  [
    "a tool's name",
    {
      type: "run.tool_result",
      data: { ...call, tool: large, outcome: "refused", result: large, duration_ms: 0 },
    },
  ],
  [
    "the id of a call",
    {
      type: "run.tool_result",
      data: { ...call, call_id: "c".repeat(5_000), outcome: "ok", result: large, duration_ms: 0 },
    },
  ],
  [
    "an error",
    {
      type: "run.failed",
      data: { error: { code: "model_error", message: large }, usage, cost_micros: 0 },
    },
  ],
])("all fields are moved to the artifact if %s is large", (_, event) => {
  expect(Object.keys(dataOf(event))).toEqual(["artifact_id", "bytes"]);
  expect(JSON.parse(toEntry(event).artifact?.content ?? "")).toEqual(event.data);
});
