import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { callsIn, play } from "../../test/engine-run.ts";
import { type FormatCase, formatCases, scriptedModel } from "../../test/format-cases.ts";
import {
  type Behaviour,
  body,
  frame,
  type ModelOutput,
  says,
  startModelServer,
  status,
  streamOf,
  streams,
  withDelivery,
} from "../../test/model-server.ts";
import { chunk, type ProviderError, wireOf } from "../../test/wire/index.ts";
import { circuitPolicy } from "./circuit/circuit.ts";
import { createCircuits } from "./circuit/index.ts";
import { defaultTimeouts } from "./timeouts.ts";

/** Streamed model calls whose responses are no streams, or have events that libraries reject. */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const run = async (
  kind: FormatCase["kind"],
  behaviours: readonly Behaviour[],
  stream: FormatCase["stream"] = "always",
  idleMs = defaultTimeouts.idleMs,
) => {
  server.script(behaviours);
  return play(server.url, {
    model: scriptedModel(kind, server.url),
    settings: { stream },
    timeouts: { ...defaultTimeouts, idleMs },
    retry: { maxAttempts: 3, baseWaitMs: 1, maxWaitMs: 1 },
  });
};

/** Responds without streaming, whatever the request asks for. */
const saysWhole =
  (said: ModelOutput, type?: string): Behaviour =>
  (request, index) =>
    body(JSON.stringify(wireOf(request.path).plain(said, "model")), type)(request, index);

/** Sends the reply of `behaviour` with the content type `text/plain`. */
const asText =
  (behaviour: Behaviour): Behaviour =>
  async (request, index) => {
    const { reply, delivery } = await behaviour(request, index);
    return { reply: { ...reply, headers: { "content-type": "text/plain" } }, delivery };
  };

/** Streams this text, and then sends nothing more without ending the response. */
const stallsAfter = (text: string): Behaviour => {
  const begins = asText(
    streams({ text }, (events, closing) => [...events.slice(0, -closing), "never sent"]),
  );
  return async (request, index) => {
    const bytes = await server.bytesOf(begins, request.body, request.path);
    const after = bytes - Buffer.byteLength(frame("never sent"));
    return withDelivery({ type: "stall", after }, begins)(request, index);
  };
};

/** Streams nothing but this error. */
const onlyError = (error: ProviderError) =>
  streams({}, (_events, _closing, wire) => [wire.inBand(error, true)]);

const piece = (delta: object, finish?: string) => Object(chunk("model", delta, finish));

const kinds = formatCases.filter(({ stream }) => stream === "always").map(({ kind }) => kind);

describe.each(kinds)("a stream of %s", (kind) => {
  it("can be a whole answer", async () => {
    const said = { text: "Hello", reasoning: "Say hello." };
    const { outcome, journal } = await run(kind, [saysWhole(said)]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "Hello" });
    expect(callsIn(journal)).toMatchObject([{ outcome: "answered" }]);
    expect(server.requests).toHaveLength(1);
  });

  it("can be a whole answer with a tool call, whose arguments are exact", async () => {
    const text = '{"id":12345678901234567890}';
    const call = { id: "call_1", name: "unknown", arguments: text };
    const { journal } = await run(kind, [saysWhole({ calls: [call] }), says("done")]);
    expect(JSON.stringify(journal)).toContain("12345678901234567890");
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [{ error: { message: "Your credit is used up", code: "insufficient_quota" } }, "credit"],
    ["<html>Sign in</html>", "cannot read"],
  ])("that is %j fails as it does without streaming", async (sent, message) => {
    const failing = typeof sent === "string" ? body(sent, "text/html") : body(JSON.stringify(sent));
    const { outcome } = await run(kind, [failing, failing, failing]);
    const requests = server.requests.length;
    server.reset();
    const whole = await run(kind, [failing, failing, failing], "never");
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: expect.stringContaining(message) },
    });
    expect(outcome).toMatchObject({ error: Object(whole.outcome).error });
    expect(requests).toBe(server.requests.length);
  });

  it.each([
    ["does not open the circuit of its model", onlyError({ message: "no", type: "server_error" })],
    ["counts as an attempt while the circuit is open", status(503)],
  ])("that begins with an error %s", async (_what, first) => {
    const policy = { ...circuitPolicy(100), failureThreshold: 1, basePauseMs: 2, maxPauseMs: 4 };
    const circuits = createCircuits(policy);
    const circuit = circuits.of({ owner: "A", provider: "p", model: "m", origin: server.url });
    const refused = onlyError({ message: "no", code: "cyber_policy" });
    server.script([first, refused, refused, refused]);
    const { outcome } = await play(server.url, {
      model: scriptedModel(kind, server.url),
      settings: { stream: "always" },
      circuit,
    });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: "The model's provider reported an error: no" },
    });
    expect(server.requests).toHaveLength(3);
  });
});

describe.each(kinds)("a stream of %s with the content type text/plain", (kind) => {
  it("is asked for, and read as it arrives, so that Beckon notices when it stalls", async () => {
    const sent = [stallsAfter("Hello"), asText(says("back"))];
    const { outcome, deltas } = await run(kind, sent, "always", 250);
    expect(server.requests[0]?.headers.accept).toMatch(/^text\/event-stream,/);
    expect(outcome).toMatchObject({ status: "succeeded", output: "back" });
    expect(deltas.filter(({ type }) => type !== "step_start")).toMatchObject([
      { type: "text_delta", text: "Hello" },
      { type: "step_end", complete: false, error: expect.stringContaining("in time") },
      { type: "text_delta", text: "back" },
      { type: "step_end", complete: true },
    ]);
  });

  it("has exact arguments of tool calls", async () => {
    const call = { id: "call_1", name: "unknown", arguments: '{"id":12345678901234567890}' };
    const { journal } = await run(kind, [asText(says({ calls: [call] })), says("done")]);
    expect(JSON.stringify(journal)).toContain("12345678901234567890");
  });
});

it("a stream whose content type is not that of a stream is read as one", async () => {
  const events = [piece({ content: "Hello" }), piece({}, "stop")];
  const text = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`;
  for (const type of ["text/plain", "application/octet-stream"]) {
    const { outcome } = await run("openai-compatible", [body(text, type)]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "Hello" });
  }
});

it("a tool call of anthropic that begins with all of its arguments has exact arguments", async () => {
  const block =
    '{"type":"tool_use","id":"call_1","name":"unknown","input":{"id":9007199254740993}}';
  const sent = streamOf(
    '{"type":"message_start","message":{"usage":{"input_tokens":1}}}',
    `{"type":"content_block_start","index":0,"content_block":${block}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
    '{"type":"message_stop"}',
  );
  const { journal } = await run("anthropic", [sent, says("done")]);
  expect(JSON.stringify(journal)).toContain("9007199254740993");
  expect(server.requests).toHaveLength(2);
});

it.each([
  [{ type: "invalid_request_error", message: "context too long", code: "400" }, 1],
  ["context too long", 3],
])(
  "an error of anthropic without a type is read like one with a type: %j",
  async (error, requests) => {
    const failed = streamOf(JSON.stringify({ error }));
    const { outcome, journal } = await run("anthropic", [failed, failed, failed]);
    const message = "The model's provider reported an error: context too long";
    expect(outcome).toMatchObject({ status: "failed", error: { message } });
    expect(callsIn(journal).map(({ usage }) => usage.input_tokens)).toEqual(
      Array(requests).fill(0),
    );
  },
);

it("events of anthropic with an unknown type are ignored", async () => {
  const unknown = [
    { type: "message_note", index: 0 },
    { index: 0, type: "later" },
  ];
  const sent = streams({ text: "Hello" }, (events) =>
    events.flatMap((event) => [...unknown, event]),
  );
  const { outcome } = await run("anthropic", [sent]);
  expect(outcome).toMatchObject({ status: "succeeded", output: "Hello" });
  expect(server.requests).toHaveLength(1);
});

describe.each(["openai-compatible", "openai-chat"] as const)("an event of %s", (kind) => {
  const end = [JSON.stringify(piece({}, "stop")), "[DONE]"];
  it.each([
    ["with the field error, which is null", JSON.stringify({ error: null, ...piece({}) })],
    ["without data", ""],
    ["without choices", JSON.stringify({ ...piece({}), choices: null })],
  ])("%s is no error", async (_, event) => {
    const hello = JSON.stringify({ error: null, ...piece({ content: "Hello" }) });
    const { outcome } = await run(kind, [streamOf(event, hello, event, ...end)]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "Hello" });
    expect(server.requests).toHaveLength(1);
  });
});
