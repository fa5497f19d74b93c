import type { ProviderKind } from "@beckon/contract";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dataOf, memoryJournal, play, productionFetch, tool } from "../../test/engine-run.ts";
import {
  type Behaviour,
  body,
  says,
  startModelServer,
  streamOf,
  textChunk,
} from "../../test/model-server.ts";
import { providerModel } from "./models/provider-model.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());
afterEach(() => vi.unstubAllEnvs());

const key = "key-of-the-test-0123";
const modelOf = (kind: ProviderKind, modelId: string, apiKey: string | undefined = key) =>
  providerModel(kind, {
    name: "scripted",
    baseUrl: server.url,
    modelId,
    transport: productionFetch,
    ...(apiKey && { apiKey }),
  });

/**
 * A provider's API format. The second request of a run must contain everything in the model's first
 * answer: text, tool call, and reasoning with its signature.
 */
interface Case {
  readonly kind: ProviderKind;
  readonly model: string;
  readonly path: string;
  readonly keyHeader: readonly [string, string];
  /**
   * Returns the fields of the second request that are compared with `expected`: the conversation,
   * the options that make the provider return its reasoning, and those that forbid the provider to
   * store the conversation.
   */
  readonly second: (body: Record<string, unknown>) => unknown;
  readonly expected: unknown;
}

const cached = { type: "ephemeral" };
const call = { id: "toolu_1", name: "look_up", arguments: '{"colour":"blue"}' };
const cases: readonly Case[] = [
  {
    kind: "openai",
    model: "gpt-5",
    path: "/v1/responses",
    keyHeader: ["authorization", `Bearer ${key}`],
    second: ({ input, store, include, reasoning }) => ({ input, store, include, reasoning }),
    expected: {
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high" },
      input: [
        { role: "user", content: [{ type: "input_text", text: "hello" }] },
        {
          type: "reasoning",
          id: "rs_1",
          encrypted_content: "proof+/=",
          summary: [{ type: "summary_text", text: "I must look it up." }],
        },
        { role: "assistant", content: "One moment." },
        {
          type: "function_call",
          call_id: "toolu_1",
          name: "look_up",
          arguments: '{"colour":"blue"}',
        },
        { type: "function_call_output", call_id: "toolu_1", output: '{"shade":"navy"}' },
      ],
    },
  },
  {
    kind: "openai-chat",
    model: "gpt-4.1",
    path: "/v1/chat/completions",
    keyHeader: ["authorization", `Bearer ${key}`],
    second: ({ messages, store }) => ({ messages, store }),
    expected: {
      store: false,
      messages: [
        { role: "user", content: "hello" },
        {
          role: "assistant",
          content: "One moment.",
          tool_calls: [
            {
              id: "toolu_1",
              type: "function",
              function: { name: "look_up", arguments: '{"colour":"blue"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "toolu_1", content: '{"shade":"navy"}' },
      ],
    },
  },
  {
    kind: "anthropic",
    model: "claude-sonnet-4-5",
    path: "/v1/messages",
    keyHeader: ["x-api-key", key],
    second: ({ messages, tools }) => [messages, tools],
    expected: [
      [
        { role: "user", content: [{ type: "text", text: "hello", cache_control: cached }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "I must look it up.", signature: "proof+/=" },
            { type: "text", text: "One moment." },
            { type: "tool_use", id: "toolu_1", name: "look_up", input: { colour: "blue" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              content: '{"shade":"navy"}',
              cache_control: cached,
            },
          ],
        },
      ],
      [expect.objectContaining({ name: "look_up", cache_control: cached })],
    ],
  },
  {
    kind: "google",
    model: "gemini-3-pro-preview",
    path: "/v1/models/gemini-3-pro-preview:generateContent",
    keyHeader: ["x-goog-api-key", key],
    second: ({ contents }) => contents,
    expected: [
      { role: "user", parts: [{ text: "hello" }] },
      {
        role: "model",
        parts: [
          { text: "I must look it up.", thought: true },
          { text: "One moment." },
          {
            functionCall: { id: "toolu_1", name: "look_up", args: { colour: "blue" } },
            thoughtSignature: "proof+/=",
          },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "toolu_1",
              name: "look_up",
              response: { name: "look_up", content: { shade: "navy" } },
            },
          },
        ],
      },
    ],
  },
  {
    kind: "openai-compatible",
    model: "llama",
    path: "/v1/chat/completions",
    keyHeader: ["authorization", `Bearer ${key}`],
    second: ({ messages }) => messages,
    expected: [
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: "One moment.",
        reasoning_content: "I must look it up.",
        tool_calls: [
          {
            id: "toolu_1",
            type: "function",
            function: { name: "look_up", arguments: '{"colour":"blue"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "toolu_1", content: '{"shade":"navy"}' },
    ],
  },
];

const lookUp = tool("look_up", { run: async () => ({ shade: "navy" }) });

describe.each(cases)("$kind", ({ kind, model, path, keyHeader, second, expected }) => {
  it.each(["never", "always"] as const)(
    "gets back the metadata that it attached to its answer (streamed: %s)",
    async (stream) => {
      server.script([
        says({
          reasoning: "I must look it up.",
          signature: "proof+/=",
          text: "One moment.",
          calls: [call],
        }),
        says({
          text: "It is navy.",
          usage: {
            prompt_tokens: 50,
            completion_tokens: 20,
            cached_tokens: 30,
            reasoning_tokens: 12,
          },
        }),
      ]);
      const request = {
        model: modelOf(kind, model),
        settings: { stream, reasoning_effort: "high" },
        tools: [lookUp],
      } as const;
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(dataOf(journal, "run.step")[1]?.usage).toEqual({
        input_tokens: 50,
        output_tokens: 20,
        cached_input_tokens: 30,
        // Anthropic reports no count for reasoning.
        ...(kind === "anthropic" ? {} : { reasoning_tokens: 12 }),
      });

      const [first, again] = server.requests;
      expect(first?.path.split("?")[0]?.replace("streamGenerateContent", "generateContent")).toBe(
        path,
      );
      expect(first?.headers[keyHeader[0]]).toBe(keyHeader[1]);
      expect(second(again?.body ?? {})).toEqual(expected);

      // Another process, which has only the journal as JSON, sends the model the same request.
      const initial = JSON.parse(JSON.stringify(journal.entries.slice(0, 3)));
      server.reset();
      server.script(says("It is navy."));
      await play(server.url, { ...request, resumed: true, journal: memoryJournal({ initial }) });
      expect(server.requests[0]?.body).toEqual(again?.body);
    },
  );

  it.each(["never", "always"] as const)(
    "can write an integer beyond 2^53 in the arguments of a call (streamed: %s)",
    async (stream) => {
      const written =
        '{"ids":[9007199254740993,-12345678901234567890],"text":"say \\"9007199254740993\\""}';
      server.script([says({ calls: [{ ...call, arguments: written }] }), says("It is navy.")]);
      const { outcome, journal } = await play(server.url, {
        model: modelOf(kind, model),
        settings: { stream },
        tools: [lookUp],
      });
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      const intents = dataOf(journal, "run.tool_call").map((intent) => intent.arguments);
      expect(JSON.stringify(intents)).toBe(`[${written}]`);
    },
  );

  it("reads neither key nor address from the environment", async () => {
    for (const name of ["OPENAI", "ANTHROPIC", "GOOGLE_GENERATIVE_AI"]) {
      vi.stubEnv(`${name}_API_KEY`, "the-operator's-own-key");
      vi.stubEnv(`${name}_BASE_URL`, "http://127.0.0.1:1/elsewhere");
    }
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "the-operator's-own-key");
    server.script(says("hello"));
    expect((await play(server.url, { model: modelOf(kind, model, "") })).outcome).toMatchObject({
      status: "succeeded",
    });
    expect(JSON.stringify(server.requests)).not.toContain("operator");
  });

  it("is sent every setting that a Beckon agent can have", async () => {
    server.script(says("hello"));
    await play(server.url, {
      model: modelOf(kind, model),
      settings: {
        stream: "never",
        max_output_tokens: 2_000,
        temperature: 0.5,
        reasoning_effort: "none",
      },
      instructions: "Be brief.",
      tools: [lookUp],
    });
    expect(JSON.stringify(server.requests[0]?.body)).toContain("Be brief.");
    expect(JSON.stringify(server.requests[0]?.body)).toMatch(/[tT]okens"?:2000/);
  });
});

describe("the usage of an OpenAI-compatible server", () => {
  const counts = { prompt_tokens: 12, completion_tokens: 2 };
  it.each([
    // xAI counts reasoning only in the total, and Google's endpoint does not report it at all.
    [
      { ...counts, completion_tokens_details: { reasoning_tokens: 317 }, total_tokens: 331 },
      { output_tokens: 319, reasoning_tokens: 317 },
    ],
    [{ ...counts, total_tokens: 331 }, { output_tokens: 319 }],
    [{ ...counts, total_tokens: 0 }, { output_tokens: 2 }],
    [{ ...counts, total_tokens: 331.5 }, { output_tokens: 2 }],
    [{ ...counts, total_tokens: 5_000_000 }, { output_tokens: 2 }],
    // Kimi, then DeepSeek.
    [{ ...counts, cached_tokens: 8 }, { cached_input_tokens: 8 }],
    [{ ...counts, prompt_cache_hit_tokens: 8 }, { cached_input_tokens: 8 }],
    // OpenRouter.
    [
      {
        prompt_tokens: 100_012,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 100_000 },
      },
      { input_tokens: 100_012, cached_input_tokens: 4, cache_write_tokens: 100_000 },
    ],
    [
      { ...counts, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: "8" } },
      { cached_input_tokens: 4 },
    ],
  ])("is read from %j", async (usage, expected) => {
    const message = { content: "hi" };
    for (const [stream, behaviour] of [
      ["never", body(JSON.stringify({ choices: [{ message, finish_reason: "stop" }], usage }))],
      ["always", streamOf(textChunk("hi", "stop"), JSON.stringify({ choices: [], usage }))],
    ] as const) {
      server.script(behaviour);
      const { outcome } = await play(server.url, { settings: { stream } });
      expect(outcome?.usage).toMatchObject({ input_tokens: 12, ...expected });
      expect(outcome?.usage).not.toHaveProperty("estimated");
    }
  });
});

describe("blank text before a tool call", () => {
  it.each(["never", "always"] as const)(
    "stays in the journal and is not sent back to anthropic (streamed: %s)",
    async (stream) => {
      server.script([says({ text: "\n\n", calls: [call] }), says("It is navy.")]);
      const { journal, outcome } = await play(server.url, {
        model: modelOf("anthropic", "claude-sonnet-4-5"),
        settings: { stream },
        tools: [lookUp],
      });
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(dataOf(journal, "run.step")[0]?.parts[0]).toEqual({ type: "text", text: "\n\n" });
      expect(server.requests[1]?.body.messages[1]).toMatchObject({
        role: "assistant",
        content: [{ type: "tool_use", name: "look_up" }],
      });
    },
  );
});

describe("the prompt cache of anthropic", () => {
  interface Body {
    readonly system?: readonly object[];
    readonly messages: readonly { readonly content: readonly object[] }[];
  }
  /** Returns the positions of the blocks of a request that are marked. */
  const marks = ({ system = [], messages }: Body) =>
    [...system, ...messages.flatMap(({ content }) => content)].flatMap((block, position) =>
      "cache_control" in block ? [position] : [],
    );

  it("is used from the instructions on by an agent with tools, and not by one without", async () => {
    const model = modelOf("anthropic", "claude-sonnet-4-5");
    const request = { model, instructions: "Be brief.", input: "Which blue?" };
    server.script([
      ...[1, 2].map((n) => says({ calls: [{ ...call, id: `toolu_${n}` }] })),
      says("It is navy."),
      says("Blue."),
    ]);
    const { journal } = await play(server.url, { ...request, tools: [lookUp] });
    await play(server.url, request);
    const bodies = server.requests.map((sent) => sent.body as unknown as Body);
    // The instructions, the input, and a call and its result for each step.
    expect(bodies.map(marks)).toEqual([[0, 1], [0, 1, 3], [0, 3, 5], []]);
    expect(JSON.stringify(journal.entries)).not.toContain("ephemeral");
  });
});

describe("arguments that are not an object", () => {
  it.each(["anthropic", "google"] as const)("are sent back to %s wrapped in one", async (kind) => {
    server.script([says({ calls: [{ ...call, arguments: "[1,2" }] }), says("sorry")]);
    const { outcome } = await play(server.url, {
      model: modelOf(kind, "claude-sonnet-4-5"),
      tools: [lookUp],
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "sorry" });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('{"not_an_object":"[1,2"}');
  });
});

describe("a model of another server with Anthropic's API", () => {
  const truncated = says({
    text: "half",
    finish: "length",
    usage: { prompt_tokens: 9, completion_tokens: 16_384 },
  });

  it.each([
    "kimi-k2",
    "claude-haiku",
    "claude-3-7-sonnet-20250219",
    "anthropic/claude-sonnet-4",
    "anthropic/claude-sonnet-4.5",
  ])("gets an output bound that the error of a truncated answer explains: %s", async (name) => {
    server.script(truncated);
    const { outcome } = await play(server.url, { model: modelOf("anthropic", name) });
    expect(server.requests[0]?.body.max_tokens).toBe(16_384);
    expect(outcome).toMatchObject({
      error: { message: expect.stringMatching(/API requires a maximum, .* at most 16384 tokens/) },
    });
  });

  it("gets the bound of its agent, with thinking as a part of it", async () => {
    server.script(says("hello"));
    await play(server.url, {
      model: modelOf("anthropic", "kimi-k2"),
      reserveOutputTokens: 3_000,
      settings: { stream: "never", reasoning_effort: "high" },
    });
    expect(server.requests[0]?.body).toMatchObject({
      max_tokens: 3_000,
      thinking: { budget_tokens: 1_500 },
    });
  });

  it.each(["claude-haiku-4-5", "claude-sonnet-4@20250514", "anthropic.claude-sonnet-4-5-v1:0"])(
    "is unlike one of Anthropic, which gets the longest answer that it allows: %s",
    async (name) => {
      server.script(truncated);
      const { outcome } = await play(server.url, { model: modelOf("anthropic", name) });
      expect(server.requests[0]?.body.max_tokens).toBe(64_000);
      expect(JSON.stringify(outcome)).not.toContain("asked for at most");
    },
  );

  it.each(["never", "always"] as const)(
    "gets its thinking back without a signature, which it does not send (streamed: %s)",
    async (stream) => {
      /** Sends no signatures, as Ollama does. */
      const unsigned: Behaviour = async (request, index) => {
        const said = { reasoning: "I must look it up.", calls: [call] };
        const { reply, delivery } = await says(said)(request, index);
        const pieces = reply.pieces
          .filter((piece) => !`${piece}`.includes("signature_delta"))
          .map((piece) => `${piece}`.replace(',"signature":""', ""));
        return { reply: { ...reply, pieces }, delivery };
      };
      server.script([unsigned, says("It is navy.")]);
      const model = modelOf("anthropic", "kimi-k2");
      const request = { model, settings: { stream }, tools: [lookUp] };
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(dataOf(journal, "run.step").every(({ retries }) => !retries)).toBe(true);
      expect(server.requests[1]?.body.messages[1]?.content).toMatchObject([
        { type: "thinking", thinking: "I must look it up.", signature: "" },
        { type: "tool_use", name: "look_up" },
      ]);
    },
  );

  it("gets no eager_input_streaming, which some do not accept", async () => {
    server.script(says("hello"));
    const model = modelOf("anthropic", "claude-sonnet-4-5");
    await play(server.url, { model, settings: { stream: "always" }, tools: [lookUp] });
    const [sent] = server.requests;
    expect(sent?.body).toMatchObject({ stream: true, tools: [{ name: "look_up" }] });
    expect(JSON.stringify(sent?.body)).not.toContain("eager_input_streaming");
  });
});
