import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { productionFetch } from "../../../test/engine-run.ts";
import {
  type Behaviour,
  body,
  inBandError,
  type ModelRequest,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../../test/model-server.ts";
import { createLeanFetch } from "../../base/egress/index.ts";
import { readFailure } from "../model-call/read-failure.ts";
import { openAICompatibleModel } from "./openai-compatible.ts";

/** Compares our HTTP calls with those that `@ai-sdk/openai-compatible` makes itself. */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

interface Address {
  readonly baseUrl: string;
  readonly apiKey?: string;
}

const ourModel = ({ baseUrl, apiKey }: Address) =>
  openAICompatibleModel({
    name: "p",
    baseUrl,
    modelId: "m",
    transport: productionFetch,
    ...(apiKey !== undefined && { apiKey }),
  });
const libraryModel = ({ baseUrl, apiKey }: Address) =>
  createOpenAICompatible({
    name: "p",
    baseURL: baseUrl,
    fetch: productionFetch.fetch,
    ...(apiKey !== undefined && { apiKey }),
  }).languageModel("m");

const hello: LanguageModelV4CallOptions = {
  prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
};

/** Returns the result of one call, or the failure that the engine reads from its error. */
async function outcomeOf(model: LanguageModelV4, options = hello) {
  try {
    const { response, ...rest } = await model.doGenerate(options);
    const { date: _differs, ...headers } = response?.headers ?? {};
    return { ...rest, response: { ...response, headers } };
  } catch (thrown) {
    const { message, kind, retryable, unreachable, retryAfterMs } = readFailure(
      thrown,
      (text) => text,
    );
    return { message, kind, retryable, unreachable, retryAfterMs };
  }
}

async function expectTheSame(
  behaviour: Behaviour,
  address: Address = { baseUrl: server.url },
  options = hello,
) {
  server.script(behaviour);
  const outcome = await outcomeOf(ourModel(address), options);
  expect(outcome).toEqual(await outcomeOf(libraryModel(address), options));
  return outcome;
}

const calls: readonly LanguageModelV4CallOptions[] = [
  hello,
  {
    prompt: [
      { role: "system", content: "Be nice." },
      { role: "user", content: [{ type: "text", text: "grüße 😀" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", toolCallId: "c", toolName: "look_up", input: { colour: "blue" } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c",
            toolName: "look_up",
            output: { type: "text", value: "navy" },
          },
        ],
      },
    ],
    tools: [
      {
        type: "function",
        name: "look_up",
        description: "Looks up.",
        inputSchema: { type: "object", properties: {} },
      },
    ],
    temperature: 0.5,
    maxOutputTokens: 100,
    reasoning: "high",
    providerOptions: { p: { more: 1 } },
  },
];

describe("a call that is not streamed", () => {
  it.each(calls)("sends what the library sends, except the user agent", async (options) => {
    for (const address of [
      { baseUrl: server.url },
      { baseUrl: `${server.url}/`, apiKey: " a key/of+ours " },
      { baseUrl: server.url, apiKey: "" },
    ]) {
      await expectTheSame(says("hi"), address, options);
    }
    const sent = server.requests.map(
      ({ headers: { "user-agent": _differs, ...headers }, ...rest }: ModelRequest) => ({
        headers,
        ...rest,
      }),
    );
    expect(sent).toHaveLength(6);
    for (const at of [0, 2, 4]) expect(sent[at]).toEqual(sent[at + 1]);
    expect(server.requests[2]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer  a key/of+ours", "user-agent": "Beckon" },
    });
  });

  const answers: readonly (readonly [string, Behaviour])[] = [
    ["words", says("wörds 😀")],
    [
      "reasoning and calls",
      says({
        reasoning: "hm",
        text: "One moment.",
        calls: [{ id: "c", name: "look_up", arguments: "{}" }],
      }),
    ],
    ["no usage", says({ text: "hi", usage: null })],
    [
      "a byte order mark before the JSON",
      body(`\uFEFF${JSON.stringify({ choices: [{ message: { content: "hi" } }] })}`),
    ],
    [
      "unknown fields",
      body(
        '{"choices":[{"message":{"content":"hi","x":1},"y":2}],"usage":{"prompt_tokens":1,"z":3},"w":4}',
      ),
    ],
  ];
  it.each(answers)("reads the response like the library: %s", async (_what, behaviour) => {
    expect(await expectTheSame(behaviour)).toHaveProperty("finishReason");
  });

  const failures: readonly (readonly [string, Behaviour])[] = [
    [
      "an error in the provider's own shape",
      status(400, { body: '{"error":{"message":"no","type":"invalid_request_error"}}' }),
    ],
    ["an error in plain text", status(401, { body: "no" })],
    ["an error without a body", status(403, { body: "" })],
    ["a page not found", status(404, { body: "<html>", headers: { "content-type": "text/html" } })],
    ["a rate limit with Retry-After", status(429, { headers: { "retry-after": "7" } })],
    ["being broken", status(500)],
    [
      "an outage with two Retry-After headers",
      status(503, { headers: { "retry-after-ms": "1500", "retry-after": "2" } }),
    ],
    ["a redirect", status(302, { headers: { location: "/elsewhere" } })],
    ["no content", status(204, { body: "" })],
    [
      "no content, followed by an answer",
      status(205, { body: '{"choices":[{"message":{"content":"hi"}}]}' }),
    ],
    ["an empty body", body("")],
    ["a web page", body("<html>", "text/html")],
    ["JSON cut short", body('{"choices":[{"message":{"content":"half')],
    ["other JSON", body('{"hello":"world"}')],
    ["no object", body("[1]")],
    ["null", body("null")],
    ["an answer of another shape", body('{"choices":[{"message":{"content":7}}]}')],
    ["no choices", body('{"choices":[]}')],
    ["an error with 200", inBandError({ message: "busy", type: "overloaded_error" })],
    ["a permanent error with 200", inBandError({ message: "no", type: "invalid_request_error" })],
    ["a truncated body", withDelivery({ type: "cut", after: 250, gently: true }, says("hi"))],
    ["a truncated head", withDelivery({ type: "cut", after: 20, gently: true }, says("hi"))],
    ["nothing at all", withDelivery({ type: "cut", after: 0, gently: true }, says("hi"))],
    [
      "a truncated error response",
      withDelivery(
        { type: "cut", after: 120, gently: true },
        status(500, { body: "x".repeat(500) }),
      ),
    ],
  ];
  it.each(failures)("fails like the library, word for word: %s", async (_what, behaviour) => {
    expect(await expectTheSame(behaviour)).toHaveProperty("retryable");
  });

  it.each([
    ["an invalid URL", { baseUrl: "nonsense" }],
    ["an unsupported scheme", { baseUrl: "ftp://127.0.0.1/v1" }],
    ["a key of two lines", { baseUrl: server.url, apiKey: "a\nb" }],
    ["a key that is no valid header value", { baseUrl: server.url, apiKey: "ключ" }],
  ])("fails like the library for %s", async (_what, address) => {
    expect(await expectTheSame(says("hi"), address)).toHaveProperty("retryable");
    expect(server.requests).toEqual([]);
  });

  it("is not affected by fields named like a prototype", async () => {
    const hidden =
      '"__proto__":{"content":"hidden","prompt_tokens":9,"error":"hidden"},"constructor":{"prototype":{"content":"hidden"}}';
    server.script(
      body(
        `{"choices":[{"message":{${hidden}},"finish_reason":"stop",${hidden}}],"usage":{${hidden}},${hidden}}`,
      ),
    );
    const result = await ourModel({ baseUrl: server.url }).doGenerate(hello);
    expect(result).toMatchObject({
      content: [],
      finishReason: { unified: "stop" },
      usage: { inputTokens: { total: 0 } },
    });
    expect(result.usage.raw).not.toHaveProperty("prompt_tokens");
    expect(({} as Record<string, unknown>).content).toBeUndefined();
  });

  it("is aborted by its signal, with the signal's reason", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const call = ourModel({ baseUrl: server.url }).doGenerate({
      ...hello,
      abortSignal: controller.signal,
    });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it("uses the transport that it was given", async () => {
    const transport = createLeanFetch({
      connectTimeoutMs: 1_000,
      headersTimeoutMs: 1_000,
      bodyTimeoutMs: 1_000,
    });
    const model = openAICompatibleModel({
      name: "p",
      baseUrl: server.url,
      modelId: "m",
      transport,
    });
    await transport.close();
    await expect(model.doGenerate(hello)).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
    expect(server.requests).toEqual([]);
  });
});
