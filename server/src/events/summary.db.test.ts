import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { summarize, summarizedData } from "./summary.ts";

const { database } = await testDatabase();
const usage = { input_tokens: 1, output_tokens: 2, cached_input_tokens: 0, estimated: true };
const error = { code: "model_error", message: "No model." };

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ["an event without data", {}, {}],
  [
    "a step",
    {
      step: 1,
      model: "demo/echo",
      parts: [
        { type: "text", text: "Grüße 😀", provider_metadata: { signature: "x" } },
        { type: "reasoning", text: "" },
        { type: "tool_call", call_id: "c1", tool: "clock", arguments: '{"text":"ä"}' },
      ],
      finish_reason: "tool_calls",
      usage,
      duration_ms: 12,
      retries: 0,
    },
    {
      step: 1,
      model: "demo/echo",
      parts: [
        { type: "text", bytes: 12 },
        { type: "reasoning", bytes: 0 },
        { type: "tool_call", call_id: "c1", tool: "clock", bytes: 13 },
      ],
      finish_reason: "tool_calls",
      usage,
      duration_ms: 12,
      retries: 0,
    },
  ],
  ["a step without parts", { step: 1, parts: [] }, { step: 1, parts: [] }],
  [
    "a tool call",
    { step: 1, call_id: "c1", tool: "clock", arguments: { parts: [1] }, idempotency_key: "k" },
    { step: 1, call_id: "c1", tool: "clock", idempotency_key: "k" },
  ],
  [
    "a tool result",
    { step: 1, call_id: "c1", tool: "clock", outcome: "ok", result: ["x"], duration_ms: 3 },
    { step: 1, call_id: "c1", tool: "clock", outcome: "ok", duration_ms: 3 },
  ],
  [
    "the end of a run",
    { output: "Grüße", usage, cost_micros: null },
    { output_bytes: 7, usage, cost_micros: null },
  ],
  ["a failure", { error, usage, cost_micros: 3 }, { error, usage, cost_micros: 3 }],
  [
    "an event whose data is an artifact",
    { artifact_id: "art_1", bytes: 70_000 },
    { artifact_id: "art_1", bytes: 70_000 },
  ],
  [
    "a step whose parts are in an artifact",
    { step: 1, usage, artifact_id: "art_1", bytes: 70_000 },
    { step: 1, usage, artifact_id: "art_1", bytes: 70_000 },
  ],
])("the summary of %s is the same in memory and in the database", async (_, data, expected) => {
  expect(summarize({ type: "run.step", seq: 1, data })).toEqual({
    type: "run.step",
    seq: 1,
    data: expected,
  });
  const { rows } = await database.engine.query(
    `select ${summarizedData("e.data")} as data from (select $1::jsonb as data) as e`,
    [JSON.stringify(data)],
  );
  expect(rows).toEqual([{ data: expected }]);
});
