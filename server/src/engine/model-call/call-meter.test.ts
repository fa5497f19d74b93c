import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, tool } from "../../../test/engine-run.ts";
import {
  says,
  startModelServer,
  streamOf,
  textChunk,
  withDelivery,
} from "../../../test/model-server.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { ToolFailure } from "../tool.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const kib = 1024;
const memoryOf = (bytes: number) => new ByteBudget({ maxBytes: bytes, shareMax: 1 }).hold("one");

describe.each(["never", "always"] as const)("the memory of a run, streamed: %s", (stream) => {
  const settings = { stream };

  it("is that of its answers until it is released, six bytes for each character of a long one", async () => {
    server.script(says("x".repeat(100_000)));
    const memory = memoryOf(10_000 * kib);
    expect((await play(server.url, { settings, memory })).outcome?.status).toBe("succeeded");
    expect(memory.heldBytes).toBeGreaterThan(600_000);
    expect(memory.heldBytes).toBeLessThan(610_000);
  });

  it("is released when an attempt fails", async () => {
    const memory = memoryOf(10_000 * kib);
    server.script([
      withDelivery({ type: "cut", after: 60_000 }, says("x".repeat(100_000))),
      says("short"),
    ]);
    expect((await play(server.url, { settings, memory })).outcome).toMatchObject({
      status: "succeeded",
      output: "short",
    });
    expect(memory.heldBytes).toBeLessThan(10_000);
  });

  it("aborts the call without retry when none is left", async () => {
    server.script(says("x".repeat(1_000_000)));
    const memory = memoryOf(1_000 * kib);
    const { outcome } = await play(server.url, { settings, memory });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: expect.stringContaining("all the memory") },
    });
    expect([server.requests.length, memory.heldBytes]).toEqual([1, 0]);
  });

  it("counts control characters with the length of their escapes", async () => {
    server.script(says("\u0001".repeat(10_000)));
    const memory = memoryOf(10_000 * kib);
    await play(server.url, { settings, memory });
    // In each of the two copies of the JSON, each of the 10,000 characters is an escape of six
    // characters, which take two bytes each.
    expect(memory.heldBytes).toBeGreaterThan(240_000);
  });

  it("fails a run that exceeds its limit with an error that names the limit", async () => {
    server.script(says("x".repeat(3_000)));
    const { outcome } = await play(server.url, { settings, maxAnswerBytes: 2_048 });
    expect(outcome).toMatchObject({
      error: { message: expect.stringMatching(/larger than 2048 bytes.*limits\.max_answer_bytes/) },
    });
  });

  it("drops a tool's result for which none is left, with an error for the model", async () => {
    const call = { id: "1", name: "large", arguments: "{}" };
    server.script([says({ calls: [call] }), says("done")]);
    const memory = memoryOf(500 * kib);
    const { journal, outcome } = await play(server.url, {
      settings,
      memory,
      tools: [tool("large", { run: async () => "x".repeat(250_000) })],
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([
      { outcome: "error", result: expect.stringContaining("was dropped") },
    ]);
  });

  it("keeps an answer whose calls take too much from being executed; it stays in the journal", async () => {
    const call = { id: "1", name: "idle", arguments: `[${"{},".repeat(20_000)}{}]` };
    server.script(says({ calls: [call] }));
    // The memory is enough for the answer, of 60 KB, but not for the 20,001 parsed objects too.
    const { journal, outcome } = await play(server.url, {
      settings,
      memory: memoryOf(1_600 * kib),
      tools: [tool("idle")],
    });
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "model_error",
        message: expect.stringMatching(/^No further tool calls were made: .* all the memory/),
      },
    });
    expect([dataOf(journal, "run.step").length, dataOf(journal, "run.tool_call").length]).toEqual([
      1, 0,
    ]);
  });
});

it("a stream that exceeds eight times the limit with its framing fails with its own error", async () => {
  // 1,000 bytes of content in more than eight times 2,048 bytes.
  server.script(streamOf(...Array.from({ length: 1_000 }, () => textChunk("x"))));
  const { outcome } = await play(server.url, {
    settings: { stream: "always" },
    maxAnswerBytes: 2_048,
  });
  expect(outcome).toMatchObject({
    error: {
      message: expect.stringMatching(/including its framing, is larger than 16384 bytes/),
    },
  });
});

it("the memory that a tool holds while it reads is released", async () => {
  const call = { id: "1", name: "reader", arguments: "{}" };
  server.script([says({ calls: [call] }), says("done")]);
  const memory = memoryOf(500 * kib);
  const reader = tool("reader", {
    async run(_args, context) {
      if (context.memory?.grow(400 * kib) !== true) throw new ToolFailure("no memory");
      context.memory.shrink(400 * kib);
      return "read";
    },
  });
  const { journal } = await play(server.url, { memory, tools: [reader] });
  expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "ok", result: "read" }]);
  expect(memory.heldBytes).toBeLessThan(10 * kib);
});
