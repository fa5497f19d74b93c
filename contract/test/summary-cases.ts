const usage = { input_tokens: 1, output_tokens: 2, cached_input_tokens: 0, estimated: true };
const error = { code: "model_error", message: "No model." };
type Data = Readonly<Record<string, unknown>>;

/**
 * Events and their summaries: a name, the `data` of the event, and the `data` of its summary. The
 * server computes summaries in memory and in the database, and the dashboard computes those of the
 * events that a stream sends. The tests of all three use these cases.
 */
export const summaryCases: readonly (readonly [name: string, data: Data, summary: Data])[] = [
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
  [
    "a step with a part without content",
    { step: 1, parts: [{ type: "other" }] },
    { step: 1, parts: [{ type: "other", bytes: 0 }] },
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
];
