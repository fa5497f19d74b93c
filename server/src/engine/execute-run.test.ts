import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, memoryJournal, play, tool } from "../../test/engine-run.ts";
import { says, startModelServer, status } from "../../test/model-server.ts";
import type { RunRequest } from "./run-request.ts";
import { ToolFailure } from "./tool.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const call = (id: string, name: string, args: unknown = {}) => ({
  id,
  name,
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});

describe.each(["never", "always"] as const)("a run whose calls are streamed: %s", (stream) => {
  const settings = { stream };

  it("writes the step and the end of a one-step run in one write", async () => {
    const { journal, outcome } = await play(server.url, {
      settings,
      input: "what is up?",
      instructions: "Be kind.",
    });

    expect(outcome).toEqual({
      status: "succeeded",
      output: "what is up?",
      usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 },
      cost_micros: null,
    });
    expect(
      journal.writes.map(({ entries, end }) => [entries.map(({ type }) => type), end]),
    ).toEqual([[["run.step"], true]]);
    expect(server.requests[0]?.body.messages).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "what is up?" },
    ]);
    expect(server.requests[0]?.body.stream ?? false).toBe(stream === "always");
  });

  it("sends no system message for blank instructions", async () => {
    await play(server.url, { settings, instructions: " \n" });
    expect(server.requests[0]?.body.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("makes step and intents durable before it calls a tool, then calls the model again", async () => {
    server.script([
      says({ text: "let me see", calls: [call("c1", "look", { at: "sky" })] }),
      says("it is blue"),
    ]);
    const seen: string[] = [];
    const journal = memoryJournal();
    const look = tool("look", {
      run: async (args, { idempotencyKey }) => {
        seen.push(
          JSON.stringify(args),
          idempotencyKey,
          journal.entries.map(({ type }) => type).join(" "),
        );
        return { colour: "blue" };
      },
    });
    const { outcome } = await play(server.url, { settings, tools: [look], journal });

    expect(outcome).toMatchObject({
      status: "succeeded",
      output: "it is blue",
      usage: { input_tokens: 20, output_tokens: 10 },
    });
    expect(seen).toEqual(['{"at":"sky"}', "run_1:c1", "run.step run.tool_call"]);
    expect(
      journal.writes.map(({ entries, unlessCancelled, end }) => [
        entries.map(({ type }) => type),
        unlessCancelled,
        end,
      ]),
    ).toEqual([
      [["run.step", "run.tool_call"], true, false],
      [["run.tool_result"], false, false],
      [["run.step"], false, true],
    ]);
    expect(server.requests[1]?.body.messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: "let me see",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: '{"colour":"blue"}' },
    ]);
  });

  it("sends the model's reasoning back with its next call", async () => {
    server.script([
      says({ reasoning: "I should look.", calls: [call("c1", "look")] }),
      says("done"),
    ]);
    await play(server.url, { settings, tools: [tool("look")] });
    expect(server.requests[1]?.body.messages[1]?.reasoning_content).toBe("I should look.");
  });

  it("rejects unknown tools and invalid arguments, lists the available tools to the model, and continues", async () => {
    const picky = tool("picky", {
      check: (args) =>
        args !== null && typeof args === "object" && "n" in args ? undefined : "n is missing",
    });
    server.script([
      says({
        calls: [
          call("a", "nowhere"),
          call("b", "picky", "{not json"),
          call("c", "picky", {}),
          call("d", "picky", { n: 1 }),
        ],
      }),
      says("done"),
    ]);
    const { journal, outcome } = await play(server.url, {
      settings,
      tools: [picky, tool("other")],
    });

    expect(outcome?.status).toBe("succeeded");
    expect(dataOf(journal, "run.tool_call").map(({ call_id }) => call_id)).toEqual(["d"]);
    expect(
      dataOf(journal, "run.tool_result").map(({ call_id, outcome: how, result }) => [
        call_id,
        how,
        result,
      ]),
    ).toEqual([
      ["a", "refused", 'There is no tool named "nowhere". Available tools: picky, other.'],
      ["b", "refused", "The arguments of picky are not JSON. Available tools: picky, other."],
      [
        "c",
        "refused",
        "The arguments of picky are invalid: n is missing. Available tools: picky, other.",
      ],
      ["d", "ok", { n: 1 }],
    ]);
    expect(
      server.requests[1]?.body.messages
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id }) => tool_call_id),
    ).toEqual(["a", "b", "c", "d"]);
  });

  it("assigns new ids to calls with repeated or unusable ids, the same in calls and results", async () => {
    server.script([
      says({ calls: [call("same", "echo", { n: 1 }), call("same", "echo", { n: 2 })] }),
      says({ calls: [call("same", "echo", { n: 3 }), call("has space", "echo", { n: 4 })] }),
      says("done"),
    ]);
    const { journal } = await play(server.url, { settings, tools: [tool("echo")] });

    const ids = dataOf(journal, "run.tool_call").map(({ call_id, arguments: args }) => [
      call_id,
      args,
    ]);
    expect(ids.map(([, args]) => args)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
    expect(new Set(ids.map(([id]) => id)).size).toBe(4);
    const last = server.requests[2]?.body.messages ?? [];
    const asked = last.flatMap(({ tool_calls = [] }) =>
      tool_calls.map(({ id, function: { arguments: args } }) => [id, args]),
    );
    const messages = last
      .filter(({ role }) => role === "tool")
      .map(({ tool_call_id, content }) => [tool_call_id, content]);
    expect(messages).toEqual(asked);
  });

  it("rejects a call whose arguments cannot be validated", async () => {
    server.script([says({ calls: [call("c1", "broken")] }), says("done")]);
    const broken = tool("broken", {
      check: () => {
        throw new Error("a bug");
      },
    });
    const { journal, outcome } = await play(server.url, { settings, tools: [broken] });
    expect(outcome?.status).toBe("succeeded");
    expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "refused" }]);
  });

  it("treats missing arguments as an empty object", async () => {
    server.script([says({ calls: [call("c1", "echo", "")] }), says("done")]);
    const { journal } = await play(server.url, { settings, tools: [tool("echo")] });
    expect(dataOf(journal, "run.tool_call")[0]?.arguments).toEqual({});
  });

  it("shows the model the message of a ToolFailure, and hides other errors", async () => {
    server.script([says({ calls: [call("a", "clear"), call("b", "leaky")] }), says("done")]);
    const clear = tool("clear", {
      run: () => Promise.reject(new ToolFailure("the door is locked")),
    });
    const leaky = tool("leaky", {
      run: () => {
        throw new Error("password is hunter2");
      },
    });
    const thrown: unknown[] = [];
    const { journal, outcome } = await play(server.url, {
      settings,
      tools: [clear, leaky],
      onToolError: (error) => thrown.push(error),
    });

    expect(outcome?.status).toBe("succeeded");
    expect(thrown.map(String)).toEqual(["Error: password is hunter2"]);
    const results = dataOf(journal, "run.tool_result").map(({ call_id, outcome: how, result }) => [
      call_id,
      how,
      result,
    ]);
    expect(results).toContainEqual(["a", "error", "the door is locked"]);
    expect(results).toContainEqual(["b", "error", "leaky failed with an internal error."]);
  });

  it("fails with step_limit, without executing calls whose results no step would read", async () => {
    server.script(({ body }, index) =>
      says({ calls: [call(`c${index}`, "again")] })({ path: "", headers: {}, body }, index),
    );
    let calls = 0;
    const again = tool("again", { run: async () => (calls += 1) });
    const { outcome, journal } = await play(server.url, { settings, tools: [again], maxSteps: 3 });

    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "step_limit" },
      usage: { input_tokens: 30, output_tokens: 15 },
    });
    expect(server.requests).toHaveLength(3);
    expect(calls).toBe(2);
    expect(dataOf(journal, "run.step")).toHaveLength(3);
  });

  it("replaces NUL and lone surrogates in the output of model and tools", async () => {
    server.script([
      says({ text: "a\u0000b\ud800c", calls: [call("c1", "raw")] }),
      says("x\u0000y"),
    ]);
    const raw = tool("raw", {
      run: async () => ({ "bad\u0000key": ["\ud83d", "ok 😀", "\u0000"] }),
    });
    const { journal, outcome } = await play(server.url, { settings, tools: [raw] });

    expect(outcome).toMatchObject({ status: "succeeded", output: "x\uFFFDy" });
    expect(dataOf(journal, "run.step")[0]?.parts[0]).toEqual({
      type: "text",
      text: "a\uFFFDb\uFFFDc",
    });
    expect(dataOf(journal, "run.tool_result")[0]?.result).toEqual({
      "bad\uFFFDkey": ["\uFFFD", "ok 😀", "\uFFFD"],
    });
  });

  it("estimates and flags usage that is missing or implausible", async () => {
    for (const usage of [
      null,
      { prompt_tokens: -5, completion_tokens: 3 },
      { prompt_tokens: 5e9, completion_tokens: 3 },
      { prompt_tokens: 0, completion_tokens: 0 },
    ]) {
      server.script([says({ text: "twelve chars", usage })]);
      const { outcome } = await play(server.url, { settings });
      expect(outcome?.usage).toMatchObject({ output_tokens: 3, estimated: true });
      expect(outcome?.usage.input_tokens).toBeGreaterThan(0);
    }
  });

  it("keeps the tokens that the provider served from its cache", async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 7 },
    };
    server.script([says({ text: "hi", usage })]);
    expect((await play(server.url, { settings })).outcome?.usage).toEqual({
      input_tokens: 10,
      output_tokens: 5,
      cached_input_tokens: 7,
    });
  });

  it("never accepts a truncated answer as complete, unless the agent set the limit that truncated it", async () => {
    const truncated = { text: "half a te", finish: "length" };
    server.script([
      says(truncated),
      says(truncated),
      says({ text: "", finish: "length" }),
      says({ ...truncated, calls: [call("c", "echo")] }),
      says({ ...truncated, finish: "content_filter" }),
    ]);

    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error" },
    });
    const limited = { ...settings, max_output_tokens: 3 };
    expect((await play(server.url, { settings: limited })).outcome).toMatchObject({
      status: "succeeded",
      output: "half a te",
    });
    for (let rest = 0; rest < 3; rest += 1) {
      const { outcome, journal } = await play(server.url, {
        settings: limited,
        tools: [tool("echo")],
      });
      expect(outcome).toMatchObject({ status: "failed", error: { code: "model_error" } });
      expect(journal.writes).toHaveLength(1);
    }
    expect(server.requests).toHaveLength(5);
  });

  it("accepts an answer without content after tool results", async () => {
    server.script([says({ calls: [call("c", "echo")] }), says({ text: "", finish: "stop" })]);
    expect((await play(server.url, { settings, tools: [tool("echo")] })).outcome).toMatchObject({
      status: "succeeded",
      output: "",
    });
  });

  it("passes the agent's settings to the model", async () => {
    await play(server.url, {
      settings: { ...settings, temperature: 0.5, max_output_tokens: 77, reasoning_effort: "low" },
      tools: [tool("echo")],
    });
    expect(server.requests[0]?.body).toMatchObject({
      model: "model",
      temperature: 0.5,
      max_tokens: 77,
      reasoning_effort: "low",
    });
    expect(server.requests[0]?.body.tools?.map(({ function: { name } }) => name)).toEqual(["echo"]);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer key-of-the-test");
  });
});

it("explains an output limit that the provider rejects, if Beckon chose it because of a limit", async () => {
  const body = JSON.stringify({ error: { message: "max_tokens must be at most 8192 tokens" } });
  const rejected = async (settings: RunRequest["settings"], code = 400) => {
    server.script([status(code, { body })]);
    const limit = { isReserved: true, coversNext: () => false, endOfTruncated: undefined };
    const { outcome } = await play(server.url, {
      settings,
      limitAttempt: async () => ({ ...limit, maxOutputTokens: 16_384 }),
    });
    return outcome?.status === "failed" ? outcome.error.message : "";
  };
  expect(await rejected({ stream: "never" })).toMatch(
    /at most 8192 tokens\. .* asked for at most 16384 tokens .* limits.reserve_output_tokens/,
  );
  expect(await rejected({ stream: "never" }, 403)).not.toMatch(/16384/);
  expect(await rejected({ stream: "never", max_output_tokens: 16_384 })).not.toMatch(/16384/);
});

describe("tools of one step", () => {
  it("run concurrently, eight at most, and each result is durable as soon as it is there", async () => {
    const calls = Array.from({ length: 20 }, (_, n) => call(`c${n}`, "slow", { n }));
    server.script([says({ calls }), says("done")]);
    let running = 0;
    let maxRunning = 0;
    const slow = tool("slow", {
      run: async () => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
      },
    });
    const { journal, outcome } = await play(server.url, { tools: [slow] });
    expect(outcome?.status).toBe("succeeded");
    expect(maxRunning).toBe(8);
    expect(
      dataOf(journal, "run.tool_result").filter(
        (result) => result.outcome === "ok" && result.result === null,
      ),
    ).toHaveLength(20);
  });

  it("are executed up to the 64th, and the others rejected", async () => {
    server.script([
      says({ calls: Array.from({ length: 70 }, (_, n) => call(`c${n}`, "echo")) }),
      says("done"),
    ]);
    const { journal } = await play(server.url, { tools: [tool("echo")] });
    expect(dataOf(journal, "run.tool_call")).toHaveLength(64);
    expect(
      dataOf(journal, "run.tool_result").filter(({ outcome }) => outcome === "refused"),
    ).toHaveLength(6);
  });

  it("can return results nested thousands of levels deep, which become text", async () => {
    server.script([says({ calls: [call("a", "deep")] }), says("done")]);
    const nested = `${"[".repeat(3_900)}${"]".repeat(3_900)}`;
    const { outcome, journal } = await play(server.url, {
      tools: [tool("deep", { run: async () => JSON.parse(nested) })],
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "ok", result: nested }]);
  });

  it("are not called with arguments nested thousands of levels deep, and the model gets an error", async () => {
    const nested = `{"a":${"[".repeat(3_900)}${"]".repeat(3_900)}}`;
    server.script([says({ calls: [call("a", "act", nested)] }), says("done")]);
    const { outcome, journal } = await play(server.url, { tools: [tool("act")] });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(dataOf(journal, "run.tool_call")).toEqual([]);
    expect(dataOf(journal, "run.tool_result")).toMatchObject([
      { outcome: "refused", result: expect.stringContaining("500 levels") },
    ]);
  });

  it("can return large results, which are truncated with a note; results that are not JSON are errors", async () => {
    server.script([says({ calls: [call("a", "large"), call("b", "endless")] }), says("done")]);
    const endless: { self?: unknown } = {};
    endless.self = endless;
    const { journal } = await play(server.url, {
      tools: [
        tool("large", { run: async () => "é".repeat(200_000) }),
        tool("endless", { run: async () => endless }),
      ],
    });
    const results = new Map(
      dataOf(journal, "run.tool_result").map(({ call_id, outcome, result }) => [
        call_id,
        { outcome, result: String(result) },
      ]),
    );
    expect(results.get("a")?.result).toMatch(
      /^é{131072}\n\[truncated: the result has 400000 bytes; these are the first 262144\]$/,
    );
    expect(results.get("b")).toEqual({
      outcome: "error",
      result: "The tool's result is not JSON.",
    });
  });
});

describe("a call is streamed", () => {
  const streamed = async (options: Parameters<typeof play>[1]) => {
    server.reset();
    await play(server.url, options);
    return server.requests[0]?.body.stream ?? false;
  };

  it("with `auto` only if the run has a subscriber, the answer may be long, or reasoning effort is high", async () => {
    expect(await streamed({ settings: { stream: "auto" } })).toBe(false);
    expect(await streamed({ settings: { stream: "auto" }, hasSubscriber: () => true })).toBe(true);
    expect(await streamed({ settings: { stream: "auto", max_output_tokens: 8_192 } })).toBe(false);
    expect(await streamed({ settings: { stream: "auto", max_output_tokens: 8_193 } })).toBe(true);
    expect(await streamed({ settings: { stream: "auto", reasoning_effort: "low" } })).toBe(false);
    expect(await streamed({ settings: { stream: "auto", reasoning_effort: "medium" } })).toBe(true);
    expect(await streamed({ settings: { stream: "never" }, hasSubscriber: () => true })).toBe(
      false,
    );
  });

  it("and its subscribers get each delta, reasoning separate from text", async () => {
    server.script([says({ reasoning: "hm hm", text: "one two" })]);
    const { deltas } = await play(server.url, { settings: { stream: "always" } });
    expect(deltas[0]).toEqual({ type: "step_start", step: 1, attempt: 1 });
    expect(deltas.flatMap((delta) => (delta.type === "text_delta" ? [delta.text] : []))).toEqual([
      "one",
      " two",
    ]);
    expect(
      deltas.flatMap((delta) => (delta.type === "reasoning_delta" ? [delta.text] : [])),
    ).toEqual(["hm", " hm"]);
  });
});
