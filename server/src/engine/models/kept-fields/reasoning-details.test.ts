import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, memoryJournal, play, productionFetch, tool } from "../../../../test/engine-run.ts";
import {
  type Behaviour,
  body,
  type ModelRequest,
  says,
  startModelServer,
  status,
  streamOf,
} from "../../../../test/model-server.ts";
import { chunk } from "../../../../test/wire/index.ts";
import { providerModel } from "../provider-model.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const modelOf = (modelId: string, name = "router") =>
  providerModel("openai-compatible", {
    name,
    baseUrl: server.url,
    modelId,
    transport: productionFetch,
  });

const lookUp = tool("look_up", { run: async () => ({ shade: "navy" }) });
const call = {
  id: "tool_look_up_1",
  type: "function",
  function: { name: "look_up", arguments: '{"colour":"blue"}' },
};

const format = "anthropic-claude-v1";
const text = { type: "reasoning.text", text: "I must look it up.", format, index: 0 };
const signed = { ...text, signature: "proof+/=" };
const encrypted = {
  type: "reasoning.encrypted",
  data: "b3BhcXVl",
  id: call.id,
  format: "google-gemini-v1",
  index: 0,
};

interface Said {
  readonly details: unknown;
  /** `details` as the deltas of a stream, one list for each event. Default: one event with all. */
  readonly fragments?: readonly (readonly object[])[];
  readonly content?: string;
}

/** Calls the tool once, with `reasoning_details` as OpenRouter sends them. */
const callsTool =
  ({ details, fragments, content }: Said): Behaviour =>
  (request, index) => {
    const said = { ...(content !== undefined && { content }) };
    if (request.body.stream !== true) {
      const message = {
        role: "assistant",
        ...said,
        reasoning_details: details,
        tool_calls: [call],
      };
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      return body(JSON.stringify({ id: "1", model: "m", choices }))(request, index);
    }
    const deltas = [
      ...(fragments ?? [details]).map((each) => ({ reasoning_details: each })),
      ...(content === undefined ? [] : [{ content }]),
      { tool_calls: [{ index: 0, ...call }] },
    ];
    const events = [...deltas.map((delta) => chunk("m", delta)), chunk("m", {}, "tool_calls")];
    return streamOf(...events.map((event) => JSON.stringify(event)), "[DONE]")(request, index);
  };

const rejection = JSON.stringify({
  error: {
    code: 400,
    message: "Gemini models require OpenRouter reasoning details to be preserved in each request.",
  },
});

const detailsSent = ({ body: { messages } }: ModelRequest): unknown[] =>
  messages.flatMap((message) =>
    "reasoning_details" in message ? [message.reasoning_details] : [],
  );

/** Calls the tool in step 1, and rejects step 2 without reasoning details, as OpenRouter does. */
const router =
  (said: Said): Behaviour =>
  (request, index) => {
    const isFirst = request.body.messages.length === 1;
    if (isFirst) return callsTool(said)(request, index);
    const isKept = detailsSent(request).length > 0;
    return (isKept ? says("It is navy.") : status(400, { body: rejection }))(request, index);
  };

describe.each(["never", "always"] as const)("the reasoning details of a router (%s)", (stream) => {
  const settings = { stream } as const;

  it.each<[string, Said]>([
    ["encrypted, without text", { details: [encrypted] }],
    ["signed, before text", { details: [signed], content: "One moment." }],
    ["of several kinds", { details: [{ ...text, id: null, signature: null }, encrypted] }],
    ["empty", { details: [], content: "One moment." }],
    ["before blank text", { details: [signed], content: "\n\n" }],
  ])("are sent back with the step that had them: %s", async (_what, said) => {
    server.script(router(said));
    const request = { model: modelOf("m"), settings, tools: [lookUp] };
    const { outcome, journal } = await play(server.url, request);
    expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
    expect(server.requests[1]?.body.messages[1]).toEqual({
      role: "assistant",
      content: said.content?.trim() || null,
      tool_calls: [call],
      reasoning_details: said.details,
    });
    expect(dataOf(journal, "run.step")[0]?.parts).toHaveLength(said.content === undefined ? 1 : 2);

    // Another process, which has only the journal as JSON, sends the same request.
    const second = server.requests[1]?.body;
    const initial = JSON.parse(JSON.stringify(journal.entries.slice(0, 3)));
    server.reset();
    server.script(router(said));
    await play(server.url, { ...request, resumed: true, journal: memoryJournal({ initial }) });
    expect(server.requests.map((sent) => sent.body)).toEqual([second]);

    // A provider with another name does not get them.
    server.reset();
    server.script(says("It is navy."));
    const other = { ...request, model: modelOf("m", "other") };
    await play(server.url, { ...other, resumed: true, journal: memoryJournal({ initial }) });
    expect(server.requests.map(detailsSent)).toEqual([[]]);
  });

  it("are not sent with steps that had none", async () => {
    server.script([
      callsTool({ details: [encrypted] }),
      says({ calls: [{ id: "c2", name: "look_up", arguments: "{}" }] }),
      says("It is navy."),
    ]);
    await play(server.url, { model: modelOf("m"), settings, tools: [lookUp] });
    expect(server.requests.map(detailsSent)).toEqual([[], [[encrypted]], [[encrypted]]]);
  });

  it("are not sent again to a server that rejects the field", async () => {
    const strict: Behaviour = (request, index) => {
      if (detailsSent(request).length > 0)
        return status(400, { body: '{"error":{"message":"reasoning_details: extra field"}}' })(
          request,
          index,
        );
      const isFirst = request.body.messages.length === 1;
      return (isFirst ? callsTool({ details: [signed] }) : says("It is navy."))(request, index);
    };
    server.script(strict);
    const request = { model: modelOf(`strict ${stream}`), settings, tools: [lookUp] };
    const { outcome } = await play(server.url, request);
    expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
    expect(server.requests).toHaveLength(3);
    server.reset();
    server.script(strict);
    await play(server.url, request);
    expect(server.requests.map(detailsSent)).toEqual([[], []]);
  });
});

it("reasoning details are sent back to a server that ignores that a stream was requested", async () => {
  const unstreamed: Behaviour = (request, index) =>
    callsTool({ details: [encrypted] })(
      { ...request, body: { ...request.body, stream: false } },
      index,
    );
  server.script([unstreamed, says("It is navy.")]);
  await play(server.url, { model: modelOf("m"), settings: { stream: "always" }, tools: [lookUp] });
  expect(server.requests.map(detailsSent)).toEqual([[], [[encrypted]]]);
});

describe("the fragments of streamed reasoning details", () => {
  const sentBack = async (fragments: readonly (readonly object[])[]) => {
    server.script(router({ details: undefined, fragments }));
    await play(server.url, {
      model: modelOf("m"),
      settings: { stream: "always" },
      tools: [lookUp],
    });
    return server.requests[1] && detailsSent(server.requests[1])[0];
  };
  const { index: _, ...unnumbered } = text;

  it.each<[string, readonly (readonly object[])[], readonly object[]]>([
    [
      "text with a signature at its end",
      [
        [{ ...text, text: "I must " }],
        [{ ...text, text: "look it up.", signature: null }],
        [{ type: text.type, signature: "proof+/=", format, index: 0 }],
      ],
      [signed],
    ],
    [
      "a summary, and encrypted reasoning",
      [
        [{ type: "reasoning.summary", summary: "I must ", format, index: 0 }],
        [{ type: "reasoning.summary", summary: "look.", format, index: 0, id: "rs_1" }],
        [encrypted],
      ],
      [
        { type: "reasoning.summary", summary: "I must look.", format, index: 0, id: "rs_1" },
        encrypted,
      ],
    ],
    [
      "texts of two indexes in turn",
      [
        [
          { ...text, text: "a" },
          { ...text, text: "A", index: 1 },
        ],
        [{ ...text, text: "b" }],
      ],
      [
        { ...text, text: "ab" },
        { ...text, text: "A", index: 1 },
      ],
    ],
    [
      "texts without an index",
      [
        [{ ...unnumbered, text: "a" }],
        [{ ...unnumbered, text: "b" }, encrypted],
        [{ ...unnumbered, text: "c" }],
      ],
      [{ ...unnumbered, text: "ab" }, encrypted, { ...unnumbered, text: "c" }],
    ],
  ])("are joined: %s", async (_what, fragments, joined) => {
    expect(await sentBack(fragments)).toEqual(joined);
  });

  it.each<[string, readonly object[]]>([
    ["encrypted reasoning", [encrypted, { ...encrypted, data: "bW9yZQ==", id: "tool_2" }]],
    [
      "texts with different ids",
      [
        { ...text, id: "1" },
        { ...text, id: "2" },
      ],
    ],
    ["text after a signature", [signed, { ...text, text: "Or must I?" }]],
  ])("stay apart: %s", async (_what, details) => {
    expect(await sentBack(details.map((detail) => [detail]))).toEqual(details);
  });

  it("end the call if they become too large", async () => {
    const long = "x".repeat(1024 * 1024);
    server.script(
      router({ details: undefined, fragments: Array(9).fill([{ ...text, text: long }]) }),
    );
    const { outcome } = await play(server.url, {
      model: modelOf("m"),
      settings: { stream: "always" },
      tools: [lookUp],
      maxAnswerBytes: 32 * 1024 * 1024,
    });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: expect.stringContaining("reasoning_details") },
    });
    expect(server.requests).toHaveLength(1);
  });
});
