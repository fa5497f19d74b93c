import type { ProviderKind } from "@beckon/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, tool } from "../../test/engine-run.ts";
import { formatCases, scriptedModel } from "../../test/format-cases.ts";
import { type Behaviour, says, startModelServer, status } from "../../test/model-server.ts";
import { isJsonObject, tryParseJson } from "../base/json/index.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

/** Returns a tool with the argument `colour`, and the list of the arguments of its calls. */
function paint() {
  const calls: unknown[] = [];
  return {
    calls,
    tool: tool("paint", {
      check: (args) =>
        typeof (args as { colour?: unknown }).colour === "string"
          ? undefined
          : "colour must be a text",
      run: async (args) => {
        calls.push(args);
        return "painted";
      },
    }),
  };
}

const call = (id: string, args = '{"colour":"red"}', name = "paint") => ({
  id,
  name,
  arguments: args,
});

/**
 * Behaves as `behaviour`, but rejects a request, as providers do, if one of its calls has no valid
 * name. A server with OpenAI's API that decodes arguments also rejects those that are no object.
 */
function strict(kind: ProviderKind, behaviour: Behaviour): Behaviour {
  return (request, index) => {
    let isValid = true;
    JSON.stringify(request.body, (key, value) => {
      if (key === "name") isValid &&= /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(value);
      if (value?.type === "function_call" || value?.type === "tool_use")
        isValid &&= typeof value.name === "string";
      if (key === "arguments" && kind === "openai-compatible")
        isValid &&= isJsonObject(tryParseJson(value));
      return value;
    });
    return (isValid ? behaviour : status(400))(request, index);
  };
}

describe.each(formatCases)("a model of $kind, streamed: $stream,", ({ kind, stream }) => {
  const run = async (behaviours: Behaviour | readonly Behaviour[], maxSteps = 5) => {
    server.script(behaviours);
    const painting = paint();
    const played = await play(server.url, {
      model: scriptedModel(kind, server.url),
      settings: { stream },
      tools: [painting.tool],
      maxSteps,
    });
    return { ...played, painted: painting.calls };
  };
  /** Returns the body of the second request as text, which works for every API format. */
  const shown = () => JSON.stringify(server.requests[1]?.body);

  it.each(["no_such_tool", "functions.search", "../paint", "constructor", "0".repeat(65), ""])(
    "that calls the tool %j gets the error that there is no such tool",
    async (name) => {
      const { outcome, journal, painted } = await run([
        says({ calls: [call("call_1", "{}", name)] }),
        strict(kind, says("sorry")),
      ]);
      if (name !== "") {
        expect(outcome).toMatchObject({ status: "succeeded", output: "sorry" });
        expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "refused" }]);
        expect(shown()).toContain("There is no tool named");
      } else expect(outcome?.status).toMatch(/succeeded|failed/);
      expect(painted).toEqual([]);
      expect(dataOf(journal, "run.tool_call")).toEqual([]);
    },
  );

  it.each([
    '{"colour":"re',
    "no JSON",
    '"red"',
    "[1]",
    '{"colour":7}',
    '{"color":"red"}',
    "null",
    "{}",
  ])("that writes %j as arguments gets an error that says what is wrong", async (args) => {
    const { outcome, journal, painted } = await run([
      says({ calls: [call("call_1", args)] }),
      strict(kind, says("sorry")),
    ]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "sorry" });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "refused" }]);
    expect(shown()).toMatch(/are not JSON|are invalid/);
    expect(painted).toEqual([]);
  });

  const half = "\ud83d";
  it.each([
    ["an escaped NUL", String.raw`{"colour":"re\u0000d"}`, "colour"],
    // This is invalid JSON. In API formats in which arguments are a JSON value and not text, the
    // test server sends it as one JSON string. The error then names the whole value and not
    // `colour`.
    ["an unescaped NUL", '{"colour":"re\u0000d"}', "(colour|the value)"],
    ["an escaped lone surrogate", String.raw`{"colour":"\ud83d"}`, "colour"],
    ["an unescaped lone surrogate", `{"colour":"${half}"}`, "colour"],
    [
      "NUL in a list",
      String.raw`{"colour":"red","more":{"tones":["dark","\u0000"]}}`,
      "more\\.tones\\[1\\]",
    ],
    ["NUL in a name", String.raw`{"colour":"red","\u0000":1}`, "the name \uFFFD"],
  ])(
    "that writes %s into an argument is told which one, and no tool is called with a replaced text",
    async (_what, args, where) => {
      const { outcome, journal, painted } = await run([
        says({ calls: [call("call_1", args)] }),
        says("sorry"),
      ]);
      expect(outcome).toMatchObject({ status: "succeeded", output: "sorry" });
      const result = new RegExp(
        `^The arguments of paint are invalid: ${where} contains NUL or a lone surrogate; `,
      );
      expect(dataOf(journal, "run.tool_result")).toMatchObject([
        { outcome: "refused", result: expect.stringMatching(result) },
      ]);
      expect(painted).toEqual([]);
      expect(dataOf(journal, "run.tool_call")).toEqual([]);
    },
  );

  it("that writes the escape of NUL as text, or a complete surrogate pair, is understood", async () => {
    const texts = [String.raw`\u0000`, String.raw`\ud83d`, "😀"];
    const calls = texts.map((colour, index) => call(`call_${index}`, JSON.stringify({ colour })));
    const { painted } = await run([says({ calls }), says("done")]);
    expect(painted).toEqual(texts.map((colour) => ({ colour })));
  });

  it("that gives two calls the same id gets a result for each", async () => {
    const { outcome, journal, painted } = await run([
      says({ calls: [call("call_1", '{"colour":"red"}'), call("call_1", '{"colour":"blue"}')] }),
      says({ calls: [call("call_1", '{"colour":"green"}')] }),
      says("done"),
    ]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(painted).toEqual([{ colour: "red" }, { colour: "blue" }, { colour: "green" }]);
    const ids = new Set(dataOf(journal, "run.tool_result").map(({ call_id }) => call_id));
    expect(ids.size).toBe(3);
    // Each id occurs twice in the last request: in the call and in its result.
    const last = JSON.stringify(server.requests[2]?.body);
    for (const id of ids) expect(last.split(`"${id}"`)).toHaveLength(3);
  });

  it("that never stops calling tools ends at its step limit", async () => {
    const { outcome, painted } = await run(
      (request, index) => says({ calls: [call(`call_${index}`)] })(request, index),
      4,
    );
    expect(outcome).toMatchObject({ status: "failed", error: { code: "step_limit" } });
    expect(painted).toHaveLength(3);
    expect(server.requests).toHaveLength(4);
  });

  it("that makes a thousand calls in one step has the first 64 executed, and gets a result for each", async () => {
    const calls = Array.from({ length: 1_000 }, (_, n) => call(`call_${n}`));
    const { outcome, journal, painted } = await run([says({ calls }), says("done")]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(painted).toHaveLength(64);
    expect(dataOf(journal, "run.tool_result")).toHaveLength(1_000);
    expect(shown().split('"call_999"')).toHaveLength(3);
  });
});
