import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play } from "../../test/engine-run.ts";
import {
  type Behaviour,
  blackHole,
  body,
  inBandError,
  says,
  startModelServer,
  status,
  streamOf,
  textChunk,
  withDelivery,
} from "../../test/model-server.ts";
import { elapsed } from "../base/clock.ts";
import { createLeanFetch } from "../base/egress/index.ts";
import type { TraceSpan } from "../base/tracing/index.ts";
import { openAICompatibleModel } from "./models/openai-compatible.ts";
import { defaultTimeouts } from "./timeouts.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const text = "the whole answer, word for word";
const once = { maxAttempts: 1, baseWaitMs: 1, maxWaitMs: 1 };
const hasty = createLeanFetch({ connectTimeoutMs: 1_000, headersTimeoutMs: 50, bodyTimeoutMs: 50 });
const apiKey = "key-of-the-test-0123";
/** Returns an error as OpenRouter sends it for an error of a provider. */
const routed = (metadata: object) => ({
  error: { code: 400, message: "Provider returned error", metadata },
});
const hastyModel = () =>
  openAICompatibleModel({
    name: "scripted",
    baseUrl: server.url,
    modelId: "model",
    transport: hasty,
  });

describe.each(["never", "always"] as const)("a model call streamed: %s", (stream) => {
  const settings = { stream };
  const streamed = stream === "always";
  const request = {
    model: "model",
    messages: [{ role: "user", content: "hello" }],
    stream: streamed,
  };

  it.each([408, 409, 429, 500, 502, 503, 529])("is retried after %i", async (code) => {
    server.script([status(code), says(text)]);
    const { outcome, journal, deltas } = await play(server.url, { settings });
    expect(outcome).toMatchObject({ status: "succeeded", output: text });
    expect(dataOf(journal, "run.step")[0]?.retries).toBe(1);
    expect(journal.writes).toHaveLength(1);
    expect(deltas.filter(({ type }) => type === "step_start")).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 422])("is not retried after %i", async (code) => {
    server.script(status(code, { body: JSON.stringify({ error: { message: "no such thing" } }) }));
    const { outcome } = await play(server.url, { settings });
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "model_error",
        message: `The model's provider answered ${code}: no such thing`,
      },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    // FastAPI, two forms of Mistral, Google's endpoint for OpenAI's API, and Cloudflare.
    [{ detail: [{ loc: ["body", "n"], msg: "Field required" }] }, "body.n: Field required"],
    [
      { object: "error", message: { detail: [{ msg: "No extras" }, { loc: [], msg: "No n" }] } },
      "No extras; No n",
    ],
    [{ message: [{ loc: ["body", "tools", 0], msg: "No extras" }] }, "body.tools.0: No extras"],
    [[{ error: { code: 400, message: "API key not valid" } }], "API key not valid"],
    [{ errors: [{ code: 7003, message: "No route" }, { message: "No x" }] }, "No route; No x"],
    // OpenRouter, with the error of the provider that it called.
    [routed({ raw: '{"error":{"message":"No images"}}', provider_name: "X" }), "X: No images"],
    [routed({ raw: '[{"error":{"message":"No images"}}]', provider_name: "X" }), "X: No images"],
    [routed({ raw: { message: "No images" }, provider_name: "X" }), "X: No images"],
    [routed({ raw: " busy\n", provider_name: "X" }), "Provider returned error. X sent: busy"],
    [routed({ raw: '{"n":1}' }), 'Provider returned error. The server behind it sent: {"n":1}'],
    [routed({ raw: "", provider_name: "X" }), "Provider returned error"],
    [routed({ reasons: ["rude"], provider_name: "X" }), "Provider returned error"],
  ])("fails with the words of the provider in %j", async (sent, words) => {
    server.script(status(422, { body: JSON.stringify(sent) }));
    const { outcome } = await play(server.url, { settings });
    const message = `The model's provider answered 422: ${words}`;
    expect(outcome).toMatchObject({ status: "failed", error: { code: "model_error", message } });
  });

  it("fails with the words of the provider behind a router, also in a 200", async () => {
    const raw = JSON.stringify({ error: { message: `no images, ${apiKey}` } });
    server.script(body(JSON.stringify(routed({ raw, provider_name: "X" }))));
    if (streamed) server.script(streamOf(JSON.stringify(routed({ raw, provider_name: "X" }))));
    const { outcome } = await play(server.url, { settings, apiKey });
    expect(outcome).toMatchObject({
      error: { message: "The model's provider reported an error: X: no images, [secret]" },
    });
  });

  it("follows no redirect", async () => {
    server.script(status(302, { headers: { location: `${server.url}/elsewhere` } }));
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error" },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("is not retried when the account is out of quota, though that is a 429", async () => {
    server.script(
      status(429, {
        body: JSON.stringify({ error: { message: "pay first", code: "insufficient_quota" } }),
      }),
    );
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { message: "The model's provider answered 429: pay first" },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("fails after the last attempt, with that attempt's message", async () => {
    server.script([status(500), status(502), status(503), says(text)]);
    const { outcome } = await play(server.url, { settings });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: "The model's provider answered 503: scripted 503" },
    });
    expect(server.requests).toHaveLength(3);
  });

  it("is retried when a 200 contains an error, unless that error is permanent", async () => {
    server.script([
      inBandError({ message: "overloaded", code: 529 }),
      inBandError("busy"),
      says(text),
    ]);
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "succeeded",
      output: text,
    });
    expect(server.requests).toHaveLength(3);

    server.script([
      inBandError({ message: "bad words", type: "invalid_request_error" }),
      says(text),
    ]);
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: "The model's provider reported an error: bad words" },
    });
    expect(server.requests).toHaveLength(4);
  });

  const notAnswers: readonly (readonly [string, Behaviour])[] = [
    ["is empty", body("", streamed ? "text/event-stream" : "application/json")],
    ["has only reasoning", says({ text: "", reasoning: "The user says hello." })],
    ["has only blank text", says({ text: " \n" })],
    ["is a web page", body("<html>Sign in to the airport</html>", "text/html")],
    ["is other JSON", body('{"hello":"world"}')],
    ["has no choices", body('{"choices":[]}')],
    ["is truncated JSON", body('{"choices":[{"message":{"content":"half a te')],
    ["has the finish reason error", says({ text: "half a te", finish: "error" })],
    ["announces tool calls and contains none", says({ text: "half a te", finish: "tool_calls" })],
  ];
  it.each(notAnswers)("is retried when a 200 %s", async (_what, behaviour) => {
    server.script([behaviour, says(text)]);
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "succeeded",
      output: text,
    });
    server.script(behaviour);
    expect((await play(server.url, { settings, retry: once })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error" },
    });
  });

  it.each([
    ["meteor", 'ended its answer with the unknown finish reason "meteor"', 1],
    ["insufficient_system_resource", "answer ended with an error", 3],
    ["network_error", "answer ended with an error", 3],
    ["sensitive", "content filter", 1],
    ["model_length", "reached its output limit", 1],
    ["model_context_window_exceeded", "context is full", 1],
  ])("with the finish reason %s fails: %s", async (finish, message, requests) => {
    server.script(says({ text: "half a te", finish }));
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: expect.stringContaining(message) },
    });
    expect(server.requests).toHaveLength(requests);
  });

  it("never succeeds with a truncated text, at whatever byte the connection breaks", async () => {
    const bytes = await server.bytesOf(says(text), request);
    for (let after = 0; after < bytes; after += 13) {
      const truncated = withDelivery({ type: "cut", after, gently: after % 2 === 0 }, says(text));
      server.script([truncated, says(text)]);
      const { outcome, journal } = await play(server.url, { settings });
      expect(outcome, `retried, cut after ${after}`).toMatchObject({
        status: "succeeded",
        output: text,
      });
      expect(dataOf(journal, "run.step")[0]?.retries, `cut after ${after}`).toBe(1);

      server.script([truncated]);
      const { outcome: failed } = await play(server.url, { settings, retry: once });
      expect(failed, `cut after ${after}`).toMatchObject({
        status: "failed",
        error: { code: "model_error" },
      });
    }
  });

  it("fails with model_timeout when the answer stalls, at whatever byte", async () => {
    const bytes = await server.bytesOf(says(text), request);
    const offsets = Array.from({ length: 12 }, (_, n) => Math.floor((n * bytes) / 12));
    const stalled = offsets.map(async (after) => {
      const own = await startModelServer();
      own.script(withDelivery({ type: "stall", after }, says(text)));
      const model = openAICompatibleModel({
        name: "scripted",
        baseUrl: own.url,
        modelId: "model",
        transport: hasty,
      });
      const { outcome } = await play(own.url, {
        settings,
        model,
        retry: { ...once, maxAttempts: 2 },
      });
      await own.close();
      return { after, outcome, requests: own.requests.length };
    });
    for (const { after, outcome, requests } of await Promise.all(stalled)) {
      expect(outcome, `stalled after ${after}`).toMatchObject({
        status: "failed",
        error: { code: "model_timeout" },
      });
      expect(requests).toBe(2);
    }
  });

  it("continues after a stall when the next attempt is answered", async () => {
    server.script([withDelivery({ type: "stall", after: 250 }, says(text)), says(text)]);
    expect((await play(server.url, { settings, model: hastyModel() })).outcome).toMatchObject({
      status: "succeeded",
      output: text,
    });
  });

  it("ends with model_timeout at the step's timeout when the model never responds", async () => {
    server.script(blackHole);
    const startedAt = elapsed();
    const { outcome } = await play(server.url, {
      settings,
      timeouts: { ...defaultTimeouts, stepMs: 300 },
    });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "model_timeout" } });
    expect(elapsed() - startedAt).toBeLessThan(10_000);
    expect(server.requests).toHaveLength(1);
  });

  it("is retried when the connection is refused, without the address in its error", async () => {
    const stopped = await startModelServer();
    await stopped.close();
    const { outcome, deltas } = await play(stopped.url, { settings });
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "model_error",
        message: "The connection to the model's provider failed (ECONNREFUSED).",
      },
    });
    expect(deltas.filter(({ type }) => type === "step_start")).toHaveLength(3);
  });

  it("waits as long as the provider asks", async () => {
    server.script([status(429, { headers: { "retry-after": "0.06" } }), says(text)]);
    const startedAt = elapsed();
    expect((await play(server.url, { settings })).outcome?.status).toBe("succeeded");
    expect(elapsed() - startedAt).toBeGreaterThanOrEqual(59);
  });

  it("fails at once when the provider asks to wait longer than the step or the run has left", async () => {
    server.script(status(429, { headers: { "retry-after": "100" } }));
    const message =
      "The model's provider answered 429: scripted 429. It asks to wait 100 s, which is longer than the time left.";
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message },
    });

    const patient = { ...defaultTimeouts, stepMs: 1_000_000 };
    const errorTypes: (string | undefined)[] = [];
    const span: TraceSpan = {
      traceparent: "",
      child: () => span,
      rename: () => {},
      set: () => {},
      end: (errorType) => errorTypes.push(errorType),
    };
    const { outcome } = await play(server.url, {
      settings,
      timeouts: patient,
      deadlineAt: elapsed() + 50_000,
      span,
    });
    expect(outcome).toMatchObject({ status: "failed", error: { message } });
    expect(errorTypes).toEqual(["429"]);
    expect(server.requests).toHaveLength(2);
  });

  it("does not say that the provider asks to wait too long if only our own wait is too long", async () => {
    server.script(status(503, { headers: { "retry-after": "0" } }));
    const retry = { maxAttempts: 3, baseWaitMs: 1e12, maxWaitMs: 1e12 };
    expect((await play(server.url, { settings, retry })).outcome).toMatchObject({
      status: "failed",
      error: { message: "The model's provider answered 503: scripted 503" },
    });
  });

  it("reveals neither the key in use nor text that looks like one, and not more than 500 characters", async () => {
    const apiKey = "an/unusual key+of=ours";
    const leak = `Wrong key ${apiKey} (${encodeURIComponent(apiKey)}), Bearer abcdefgh12345678, sk-proj-abcdefgh1234, ${"x".repeat(900)}`;
    server.script(status(401, { body: JSON.stringify({ error: { message: leak } }) }));
    const { outcome } = await play(server.url, { settings, apiKey });
    const message = outcome?.status === "failed" ? outcome.error.message : "";

    expect(message).toMatch(
      /^The model's provider answered 401: Wrong key \[secret\] \(\[secret\]\), Bearer \[secret\], \[secret\], x+…$/,
    );
    expect(message.length).toBeLessThanOrEqual(550);
    expect(message).not.toContain(server.url);
  });

  it("reveals no key that the provider repeats in base64, base64url or hex, at any offset of a longer text", async () => {
    const apiKey = "an/unusual~key+of=ours?>";
    for (const before of ["", "user:", "u:", "api:"]) {
      for (const encoding of ["base64", "base64url", "hex"] as const) {
        const encoded = Buffer.from(`${before}${apiKey}:after`).toString(encoding);
        for (const repeated of [encoded, encodeURIComponent(encoded)]) {
          server.script(
            status(401, { body: JSON.stringify({ error: { message: `No: ${repeated}` } }) }),
          );
          const { outcome, journal } = await play(server.url, { settings, apiKey });
          expect(outcome).toMatchObject({
            error: { message: expect.stringContaining("[secret]") },
          });
          // The twelve characters in the middle of the text encode a part of the key.
          const middle = repeated.slice(repeated.length / 2 - 6, repeated.length / 2 + 6);
          expect(JSON.stringify([outcome, journal.entries])).not.toContain(middle);
        }
      }
    }
  });

  it.each([
    ['{"error":"plain words"}', "plain words"],
    ['{"detail":"of a framework"}', "of a framework"],
    ['{"message":"at the top"}', "at the top"],
    ["<html>not for callers</html>", ""],
  ])("repeats what the provider says in %s", async (answer, text) => {
    server.script(status(400, { body: answer }));
    const { outcome } = await play(server.url, { settings });
    expect(outcome).toMatchObject({
      error: {
        message:
          text === ""
            ? "The model's provider answered 400."
            : `The model's provider answered 400: ${text}`,
      },
    });
  });
});

describe("a stream", () => {
  const settings = { stream: "always" } as const;

  it.each([
    ["ends without a finish event", streamOf(textChunk("half a te"))],
    ["sends [DONE] without a finish reason", streamOf(textChunk("half a te"), "[DONE]")],
    ["has only empty finish reasons", streamOf(textChunk("half a te", ""), "[DONE]")],
    [
      "has an event before its finish that is no JSON",
      streamOf(textChunk("half"), "{broken", textChunk("", "stop"), "[DONE]"),
    ],
    [
      "has an event of another shape before its finish",
      streamOf(textChunk("half"), '{"choices":7}', textChunk("", "stop"), "[DONE]"),
    ],
    [
      "contains an error before its finish",
      streamOf(textChunk("half"), '{"error":{"message":"oh"}}', textChunk("", "stop"), "[DONE]"),
    ],
  ])("that %s is no answer", async (_what, behaviour) => {
    server.script([behaviour, says(text)]);
    const { outcome, deltas } = await play(server.url, { settings });
    expect(outcome).toMatchObject({ status: "succeeded", output: text });
    expect(deltas.filter(({ type }) => type === "step_start")).toEqual([
      { type: "step_start", step: 1, attempt: 1 },
      { type: "step_start", step: 1, attempt: 2 },
    ]);
    server.script(behaviour);
    expect((await play(server.url, { settings, retry: once })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error" },
    });
  });

  it.each([
    ["also from servers that send no [DONE]", []],
    ["also if an empty finish reason follows", [textChunk("", ""), "[DONE]"]],
  ])("is complete with its finish event, %s", async (_what, rest) => {
    server.script([streamOf(textChunk("all "), textChunk("of it", "stop"), ...rest)]);
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "succeeded",
      output: "all of it",
    });
  });

  it("keeps all its text if the model reasons between two parts of it", async () => {
    const reasoning = '{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}';
    server.script([streamOf(textChunk("all "), reasoning, textChunk("of it", "stop"))]);
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "succeeded",
      output: "all of it",
    });
  });

  /** Sends the headers and one event with this text, and nothing more. */
  const stallsAfter =
    (event: string): Behaviour =>
    async (...request) => {
      const whole = streamOf(event);
      const bytes = await server.bytesOf(whole, { model: "model", messages: [] });
      const after = bytes - "0\r\n\r\n".length;
      return withDelivery({ type: "stall", after }, whole)(...request);
    };

  it.each([
    ["its headers", blackHole],
    ["its first content", stallsAfter(textChunk(""))],
  ])("has the time of the whole step until %s", async (_what, behaviour) => {
    server.script([behaviour, says(text)]);
    const timeouts = { ...defaultTimeouts, idleMs: 20, stepMs: 400 };
    expect((await play(server.url, { settings, timeouts })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_timeout", message: "The model did not finish its answer in time." },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("that pauses too long after its first content is retried, and fails with model_timeout", async () => {
    const stalls = stallsAfter(textChunk("half a te"));
    const timeouts = { ...defaultTimeouts, idleMs: 300 };
    server.script([stalls, says(text)]);
    expect((await play(server.url, { settings, timeouts })).outcome).toMatchObject({
      status: "succeeded",
      output: text,
    });

    server.script(stalls);
    const startedAt = elapsed();
    expect((await play(server.url, { settings, timeouts })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_timeout", message: "The model did not continue its answer in time." },
    });
    expect(elapsed() - startedAt).toBeLessThan(10_000);
    expect(server.requests).toHaveLength(5);
  });
});

describe("a plain answer", () => {
  it.each([null, ""])(
    "with the finish reason %j is complete, because its JSON is",
    async (finish) => {
      server.script([says({ text, finish })]);
      expect((await play(server.url)).outcome).toMatchObject({ status: "succeeded", output: text });
    },
  );

  it("in which the model refuses in its own words is an answer", async () => {
    const message = { role: "assistant", content: null, refusal: "I would rather not." };
    server.script([body(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }))]);
    expect((await play(server.url)).outcome).toMatchObject({
      status: "succeeded",
      output: "I would rather not.",
    });
  });
});
