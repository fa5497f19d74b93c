import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  callsIn,
  dataOf,
  memoryJournal,
  play,
  productionFetch,
  tool,
} from "../../../test/engine-run.ts";
import {
  type Behaviour,
  type ModelOutput,
  type ModelRequest,
  says,
  startModelServer,
  status,
} from "../../../test/model-server.ts";
import { providerModel } from "./provider-model.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const modelOf = (
  modelId: string,
  kind: "openai-compatible" | "openai-chat" = "openai-compatible",
) =>
  providerModel(kind, {
    name: "scripted",
    baseUrl: server.url,
    modelId,
    transport: productionFetch,
  });
const call = { id: "toolu_1", name: "look_up", arguments: '{"colour":"blue"}' };
const lookUp = tool("look_up", { run: async () => ({ shade: "navy" }) });

describe("a field that not every server accepts", () => {
  /** Rejects a request with one of the fields, as Groq, Cerebras or Mistral do. */
  const rejecting =
    (code: number, ...fields: readonly string[]): Behaviour =>
    (request, index) => {
      const { messages, ...others } = request.body;
      const sent = [others, ...messages].flatMap(Object.keys);
      const rejected = fields.find((field) => sent.includes(field));
      const detail = [{ loc: ["body", rejected], msg: "Extra inputs are not permitted" }];
      if (rejected !== undefined)
        return status(code, { body: JSON.stringify({ message: { detail } }) })(request, index);
      const isFirst = messages.length === 1;
      return says(isFirst ? { reasoning: "hm", calls: [call] } : "It is navy.")(request, index);
    };
  const groq = rejecting(400, "reasoning_content");
  const mistral = rejecting(422, "stream_options", "reasoning_content", "reasoning");

  it.each([
    ["never", groq, 1, { reasoning: "hm" }],
    ["always", groq, 1, { reasoning: "hm" }],
    ["never", mistral, 2, {}],
    ["always", mistral, 3, {}],
  ] as const)(
    "is not sent again once it was rejected (streamed: %s)",
    async (stream, behaviour, repeats, fields) => {
      const model = modelOf(`strict ${stream} ${repeats}`);
      const request = { model, settings: { stream }, tools: [lookUp] };
      server.script(behaviour);
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(callsIn(journal).map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
      expect(dataOf(journal, "run.step")[1]?.retries ?? 0).toBe(0);
      expect(server.requests).toHaveLength(2 + repeats);

      server.reset();
      server.script(behaviour);
      await play(server.url, request);
      expect(server.requests).toHaveLength(2);
      const answer = server.requests[1]?.body.messages[1];
      expect(answer).toEqual({
        role: "assistant",
        content: null,
        tool_calls: [expect.anything()],
        ...fields,
      });
    },
  );

  it("is sent again if the request is also rejected without it", async () => {
    server.script([
      says({ reasoning: "hm", calls: [call] }),
      ...[1, 2, 3].map(() => status(400, { body: '{"error":{"message":"no reasoning_content"}}' })),
    ]);
    const model = modelOf("missing");
    const request = { model, tools: [lookUp] };
    const { outcome } = await play(server.url, request);
    expect(outcome).toMatchObject({ status: "failed" });
    server.reset();
    server.script([says({ reasoning: "hm", calls: [call] }), says("It is navy.")]);
    await play(server.url, request);
    expect(server.requests[1]?.body.messages[1]?.reasoning_content).toBe("hm");
  });
});

describe.each(["never", "always"] as const)(
  "a server that requires reasoning (streamed: %s)",
  (stream) => {
    const calls = (id: string) => [{ ...call, id }];
    const reasoningSent = ({ body }: ModelRequest) =>
      body.messages.filter(({ tool_calls }) => tool_calls).map((sent) => sent.reasoning_content);
    /** Rejects a tool call without `reasoning_content`, as DeepSeek V4 and Kimi do. */
    const requiring =
      (steps: readonly ModelOutput[]): Behaviour =>
      (request, index) => {
        const sent = reasoningSent(request);
        const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${sent.indexOf(undefined)}`;
        const answer = sent.includes(undefined)
          ? status(400, { body: JSON.stringify({ error: { message } }) })
          : says(steps[sent.length] ?? {});
        return answer(request, index);
      };

    it.each<[string, readonly ModelOutput[], readonly string[]]>([
      ["after a step with reasoning", [{ reasoning: "hm", calls: calls("c1") }], ["hm", ""]],
      ["in a run without reasoning", [{ calls: calls("c1") }], ["", ""]],
    ])("gets an empty one for a step without reasoning: %s", async (what, begun, reasoning) => {
      const steps = [...begun, { calls: calls("c2") }, { text: "It is navy." }];
      server.script(requiring(steps));
      const request = {
        model: modelOf(`thinking ${stream} ${what}`),
        settings: { stream },
        tools: [lookUp],
      };
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(dataOf(journal, "run.step").every(({ retries }) => !retries)).toBe(true);
      // One request was repeated.
      expect(server.requests).toHaveLength(4);
      expect(server.requests.map(reasoningSent).at(-1)).toEqual(reasoning);

      server.reset();
      server.script(requiring(steps));
      await play(server.url, request);
      expect(server.requests).toHaveLength(3);
    });

    it("is distinguished from one that does not accept reasoning", async () => {
      const steps = [{ calls: calls("c1") }, { reasoning: "hm", calls: calls("c2") }];
      server.script((request, index) => {
        const sent = reasoningSent(request);
        const isRejected = sent.some((reasoning) => reasoning !== undefined);
        const answer = isRejected
          ? status(400, { body: '{"error":{"message":"reasoning_content: extra field"}}' })
          : says(steps[sent.length] ?? "It is navy.");
        return answer(request, index);
      });
      const model = modelOf(`strict about reasoning ${stream}`);
      const request = { model, settings: { stream }, tools: [lookUp] };
      const { outcome } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(server.requests.map(reasoningSent)).toEqual([
        [],
        [undefined],
        [undefined, "hm"],
        ["", "hm"],
        [undefined, undefined],
      ]);
      expect(server.requests[4]?.body.messages[3]).toMatchObject({ reasoning: "hm" });
    });
  },
);

describe.each(["never", "always"] as const)(
  "reasoning that came in reasoning (streamed: %s)",
  (stream) => {
    /** Sends the reasoning in `reasoning`, as Ollama and vLLM do. */
    const inReasoning =
      (behaviour: Behaviour): Behaviour =>
      async (request, index) => {
        const { reply, delivery } = await behaviour(request, index);
        const pieces = reply.pieces.map((piece) =>
          `${piece}`.replace("reasoning_content", "reasoning"),
        );
        return { reply: { ...reply, pieces }, delivery };
      };
    const settings = { stream };

    it("is sent back in the same field, also by another process", async () => {
      server.script([
        inReasoning(says({ reasoning: "hm hm", calls: [call] })),
        says("It is navy."),
      ]);
      const request = { model: modelOf("local"), settings, tools: [lookUp] };
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      const second = server.requests[1]?.body;
      expect(second?.messages[1]).toMatchObject({ reasoning: "hm hm" });
      expect(second?.messages[1]).not.toHaveProperty("reasoning_content");

      const initial = JSON.parse(JSON.stringify(journal.entries.slice(0, 3)));
      server.reset();
      server.script(says("It is navy."));
      await play(server.url, { ...request, resumed: true, journal: memoryJournal({ initial }) });
      expect(server.requests.map(({ body }) => body)).toEqual([second]);
    });

    it("is sent in the other field if the server does not accept it back", async () => {
      server.script([
        inReasoning(says({ reasoning: "hm hm", calls: [call] })),
        status(400, { body: '{"error":{"message":"reasoning: extra field"}}' }),
        says("It is navy."),
      ]);
      const model = modelOf(`router ${stream}`);
      const { outcome } = await play(server.url, { model, settings, tools: [lookUp] });
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(server.requests[2]?.body.messages[1]).toMatchObject({ reasoning_content: "hm hm" });
      expect(server.requests[2]?.body.messages[1]).not.toHaveProperty("reasoning");
    });
  },
);

describe.each(["openai-compatible", "openai-chat"] as const)("the output limit of %s", (kind) => {
  it.each(["never", "always"] as const)(
    "is sent by the other name once the server asked for it (streamed: %s)",
    async (stream) => {
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      server.script((request, index) =>
        ("max_tokens" in request.body
          ? status(400, { body: JSON.stringify({ error: { message } }) })
          : says("It is navy."))(request, index),
      );
      const limit = { isReserved: true, coversNext: () => false, endOfTruncated: undefined };
      const request: Parameters<typeof play>[1] = {
        model: modelOf(`deployment ${stream}`, kind),
        settings: { stream },
        limitAttempt: async () => ({ ...limit, maxOutputTokens: 300 }),
      };
      const { outcome, journal } = await play(server.url, request);
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
      expect(dataOf(journal, "run.step")[0]?.retries ?? 0).toBe(0);
      await play(server.url, request);
      const sent = server.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
      expect(sent).toEqual([
        [300, undefined],
        [undefined, 300],
        [undefined, 300],
      ]);
    },
  );
});
