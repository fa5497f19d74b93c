import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { memoryJournal, play, productionFetch, tool } from "../../../../test/engine-run.ts";
import {
  type Behaviour,
  body,
  says,
  startModelServer,
  streamOf,
} from "../../../../test/model-server.ts";
import { chunk } from "../../../../test/wire/index.ts";
import { providerModel } from "../provider-model.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const modelOf = (name: string) =>
  providerModel("openai-compatible", {
    name,
    baseUrl: server.url,
    modelId: "google/gemini-3-pro",
    transport: productionFetch,
  });
const lookUp = tool("look_up", { run: async () => ({ shade: "navy" }) });

interface Call {
  readonly id: string;
  readonly extra_content?: object;
}
const called = ({ id, ...more }: Call) => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: '{"colour":"blue"}' },
  ...more,
});

/** Makes these calls, each with its `extra_content`, as Vertex AI does. */
const makes =
  (calls: readonly Call[]): Behaviour =>
  (request, index) => {
    const toolCalls = calls.map(called);
    if (request.body.stream !== true) {
      const message = { role: "assistant", content: null, tool_calls: toolCalls };
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      return body(JSON.stringify({ id: "1", model: "m", choices }))(request, index);
    }
    const events = [
      ...toolCalls.map((each, position) =>
        chunk("m", { tool_calls: [{ index: position, ...each }] }),
      ),
      chunk("m", {}, "tool_calls"),
    ];
    return streamOf(...events.map((event) => JSON.stringify(event)), "[DONE]")(request, index);
  };

const vertex = { vertex: { thought_signature: "proof+/=" } };
const google = { google: { thought_signature: "proof+/=" } };

describe.each(["never", "always"] as const)("the extra_content of tool calls (%s)", (stream) => {
  const settings = { stream } as const;

  it.each<[string, readonly Call[]]>([
    ["of one call", [{ id: "c1", extra_content: vertex }]],
    ["of the first call", [{ id: "c1", extra_content: vertex }, { id: "c2" }]],
    ["of the last call", [{ id: "c1" }, { id: "c2", extra_content: vertex }]],
    ["as Google names it", [{ id: "c1", extra_content: google }]],
    ["with both names", [{ id: "c1", extra_content: { ...google, ...vertex } }]],
  ])("is sent back unchanged: %s", async (_what, calls) => {
    server.script([makes(calls), says("It is navy.")]);
    const request = { model: modelOf("gateway"), settings, tools: [lookUp] };
    const { outcome, journal } = await play(server.url, request);
    expect(outcome).toMatchObject({ status: "succeeded", output: "It is navy." });
    const second = server.requests[1]?.body;
    expect(second?.messages[1]?.tool_calls).toEqual(calls.map(called));

    // Another process, which has only the journal as JSON, sends the same request.
    const initial = JSON.parse(JSON.stringify(journal.entries.slice(0, 1 + 2 * calls.length)));
    server.reset();
    server.script(says("It is navy."));
    await play(server.url, { ...request, resumed: true, journal: memoryJournal({ initial }) });
    expect(server.requests.map((sent) => sent.body)).toEqual([second]);
  });

  it("is not sent to a provider with another name", async () => {
    server.script([makes([{ id: "c1", extra_content: vertex }]), says("It is navy.")]);
    const { journal } = await play(server.url, {
      model: modelOf("gateway"),
      settings,
      tools: [lookUp],
    });
    server.reset();
    server.script(says("It is navy."));
    await play(server.url, {
      model: modelOf("other"),
      tools: [lookUp],
      resumed: true,
      journal: memoryJournal({ initial: journal.entries.slice(0, 3) }),
    });
    expect(server.requests[0]?.body.messages[1]?.tool_calls).toEqual([called({ id: "c1" })]);
  });
});

it("extra_content that arrives after the id of its call is sent back", async () => {
  const { function: fn, ...call } = called({ id: "c1" });
  const deltas = [
    { index: 0, ...call, function: { ...fn, arguments: "" } },
    { index: 0, function: { arguments: fn.arguments }, extra_content: vertex },
  ];
  const events = deltas.map((delta) => JSON.stringify(chunk("m", { tool_calls: [delta] })));
  const end = JSON.stringify(chunk("m", {}, "tool_calls"));
  server.script([streamOf(...events, end, "[DONE]"), says("It is navy.")]);
  await play(server.url, {
    model: modelOf("gateway"),
    settings: { stream: "always" },
    tools: [lookUp],
  });
  expect(server.requests[1]?.body.messages[1]?.tool_calls).toEqual([
    called({ id: "c1", extra_content: vertex }),
  ]);
});
