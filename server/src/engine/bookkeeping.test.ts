import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, tool } from "../../test/engine-run.ts";
import { type FormatCase, formatCases, scriptedModel } from "../../test/format-cases.ts";
import { withText } from "../../test/hostile.ts";
import { type Behaviour, body, says, startModelServer, streamOf } from "../../test/model-server.ts";

/**
 * An answer whose content is complete but whose metadata, such as token counts, is wrong must be
 * accepted. A second call would be billed too.
 */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const text = 'the whole answer, word for word: "usage":{"prompt_tokens":"x"} NaN \u2028 data: end';
const asReported = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 };

const run = async (
  { kind, stream }: Pick<FormatCase, "kind" | "stream">,
  behaviour: Behaviour,
  rest: Parameters<typeof play>[1] = {},
) => {
  server.script(behaviour);
  return play(server.url, {
    model: scriptedModel(kind, server.url),
    settings: { stream },
    ...rest,
  });
};

const counts =
  /"(prompt_tokens|completion_tokens|input_tokens|output_tokens|promptTokenCount|candidatesTokenCount)":(\d+)/g;
const [outputCounts, cached] = [
  /"(completion_tokens|output_tokens|candidatesTokenCount)":(\d+)/g,
  /"(cached_tokens|cache_read_input_tokens|cachedContentTokenCount)":(\d+)/g,
];
const usage = /"(usage|usageMetadata)":\{(?:[^{}"]|"[^"]*"|\{[^{}]*\})*\}/g;

type Fault = readonly [what: string, wrong: RegExp, written: string];

describe.each(formatCases)("an answer of $wire.name for $kind, streamed: $stream,", (format) => {
  const understood: readonly Fault[] = [
    ["counts that are strings", counts, '"$1":"$2"'],
    ["counts that are strings with spaces", counts, '"$1":" $2.0 "'],
    ["an id that is a number", /"(id|responseId)":"(chatcmpl-1|resp_1|response_1)"/g, '"$1":7'],
    ["an id that is null", /"(id|responseId)":"(chatcmpl-1|resp_1|response_1)"/g, '"$1":null'],
    [
      "an id that is a number, for a message",
      /"id":"msg_1",("type":"message","role")/g,
      '"id":7,$1',
    ],
    ["a time that is a word", /"(created|created_at)":\d+/g, '"$1":"yesterday"'],
    ["no time", /"(created|created_at)":\d+,/g, ""],
    ["a model that is a number", /"model":"model"/g, '"model":7'],
    ["a model that is null", /"model":"model"/g, '"model":null'],
    ["another role", /"role":"assistant"/g, '"role":"model"'],
    [
      "log probabilities of another shape",
      /"finish_reason":/g,
      '"logprobs":{"content":"none"},"finish_reason":',
    ],
    ["no index", /"choices":\[\{"index":0,/g, '"choices":[{'],
    ["no cached tokens", cached, '"$1":null'],
  ];
  it.each(understood)("with %s is accepted, with its usage", async (_what, wrong, written) => {
    const { outcome } = await run(
      format,
      withText((sent) => sent.replace(wrong, written), says({ text })),
    );
    expect(outcome).toMatchObject({ status: "succeeded", output: text, usage: asReported });
    expect(outcome?.usage.estimated).toBeUndefined();
    expect(server.requests).toHaveLength(1);
  });

  const estimated: readonly Fault[] = [
    ["are not numbers", counts, '"$1":"NaN"'],
    ["are not valid JSON", counts, '"$1":NaN'],
    ["are infinite", counts, '"$1":1e999'],
    ["are Python's infinity", counts, '"$1":-Infinity'],
    ["are negative", counts, '"$1":-$2'],
    ["are lists", counts, '"$1":[$2]'],
    ["are null", counts, '"$1":null'],
    ["are absent", counts, '"elsewhere":$2'],
    ["are only known for the prompt", outputCounts, '"elsewhere":$2'],
    ["are inside a list", usage, '"$1":[]'],
    ["are a string", usage, '"$1":"10 in, 5 out"'],
    ["are missing", usage, '"elsewhere":0'],
  ];
  it.each(estimated)(
    "whose token counts %s is kept with an estimate",
    async (_what, wrong, written) => {
      const { outcome } = await run(
        format,
        withText((sent) => sent.replace(wrong, written), says({ text })),
      );
      expect(outcome).toMatchObject({
        status: "succeeded",
        output: text,
        usage: { estimated: true },
      });
      expect(outcome?.usage.input_tokens).toBeGreaterThan(0);
      expect(outcome?.usage.output_tokens).toBeGreaterThan(0);
      expect(outcome?.usage.output_tokens).toBeLessThan(1_000);
      expect(server.requests).toHaveLength(1);
    },
  );

  it("without any content is requested again", async () => {
    const { outcome } = await run(format, (request, index) =>
      says({ text: index === 0 ? "" : text })(request, index),
    );
    expect(outcome).toMatchObject({ status: "succeeded", output: text });
  });

  it.each(['"NaN"', "1e999", "-1", "[]"])("with %s cached tokens is kept", async (written) => {
    const { outcome } = await run(
      format,
      withText((sent) => sent.replace(cached, `"$1":${written}`), says({ text })),
    );
    expect(outcome).toMatchObject({ status: "succeeded", output: text });
    expect(server.requests).toHaveLength(1);
  });

  it.each(['"meteor"', "7", "false"])(
    "with the unknown finish reason %s is not requested again",
    async (reason) => {
      const reasons = /"(finish_reason|stop_reason|finishReason)":"[^"]+"/g;
      const { outcome } = await run(
        format,
        withText((sent) => sent.replace(reasons, `"$1":${reason}`), says({ text })),
      );
      expect(outcome?.status).toBe(format.kind === "openai" ? "succeeded" : "failed");
      expect(server.requests).toHaveLength(1);
    },
  );
});

describe.each(formatCases)("a tool call of $kind, streamed: $stream,", (format) => {
  const asked: unknown[] = [];
  const lookUp = tool("look_up", {
    run: async (args) => {
      asked.push(args);
      return "navy";
    },
  });
  beforeEach(() => asked.splice(0));

  /**
   * Returns an answer with one tool call whose arguments are the JSON text `value`. If `value` is
   * undefined, the call has no arguments.
   */
  const calling = (value: string | undefined): Behaviour => {
    if (format.wire.name === "chat completions") {
      const call = `{"index":0,"id":"c","type":"function","function":{"name":"look_up"${value === undefined ? "" : `,"arguments":${value}`}}}`;
      const piece = (message: string, finish: string) =>
        `{"choices":[{"index":0,${message},"finish_reason":${finish}}]}`;
      return format.stream === "always"
        ? streamOf(
            piece(`"delta":{"tool_calls":[${call}]}`, "null"),
            piece('"delta":{}', '"tool_calls"'),
            "[DONE]",
          )
        : body(piece(`"message":{"content":null,"tool_calls":[${call}]}`, '"tool_calls"'));
    }
    const rewrite = (sent: string) =>
      sent
        .replace(
          /"arguments":"\{\\"colour.*?\}"/g,
          value === undefined ? '"elsewhere":0' : `"arguments":${value}`,
        )
        .replace(
          /"(args|input)":\{"colour":"blue"\}/g,
          value === undefined ? '"elsewhere":0' : `"$1":${value}`,
        )
        .replace(/"input":\{\}/g, `"input":${value?.startsWith("{") ? "{}" : "null"}`);
    return withText(
      rewrite,
      says({ calls: [{ id: "c", name: "look_up", arguments: '{"colour":"blue"}' }] }),
    );
  };

  it("accepts an object as its arguments", async () => {
    const behaviours = [calling('{"colour":"blue"}'), says("done")];
    const { outcome } = await run(
      format,
      (request, index) => (behaviours[index] ?? says("too often"))(request, index),
      {
        tools: [lookUp],
      },
    );
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(asked).toEqual([{ colour: "blue" }]);
    expect(server.requests).toHaveLength(2);
  });

  it.each(["null", undefined])("accepts %s as its arguments", async (value) => {
    const behaviours = [calling(value), says("done")];
    const { outcome, journal } = await run(
      format,
      (request, index) => (behaviours[index] ?? says("too often"))(request, index),
      {
        tools: [lookUp],
      },
    );
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(dataOf(journal, "run.tool_result")).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });
});
