import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, tool } from "../../../test/engine-run.ts";
import { body, fated, says, startModelServer } from "../../../test/model-server.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { ToolFailure } from "../tool.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const kib = 1024;
const holdOf = (bytes: number) => new ByteBudget({ maxBytes: bytes, shareMax: 1 }).hold("one");

describe.each(["never", "always"] as const)("the bytes of a run, streamed: %s", (stream) => {
  const settings = { stream };

  it("are those of its answers until it is released, six for each character of a long one", async () => {
    server.script(says("x".repeat(100_000)));
    const hold = holdOf(10_000 * kib);
    expect((await play(server.url, { settings, hold })).outcome?.status).toBe("succeeded");
    expect(hold.heldBytes).toBeGreaterThan(600_000);
    expect(hold.heldBytes).toBeLessThan(610_000);
  });

  it("are given back by a try that fails", async () => {
    const hold = holdOf(10_000 * kib);
    server.script([
      fated({ type: "cut", after: 60_000 }, says("x".repeat(100_000))),
      says("short"),
    ]);
    expect((await play(server.url, { settings, hold })).outcome).toMatchObject({
      status: "succeeded",
      output: "short",
    });
    expect(hold.heldBytes).toBeLessThan(10_000);
  });

  it("end the call when there are no more to be had, at once and for good", async () => {
    server.script(says("x".repeat(1_000_000)));
    const hold = holdOf(1_000 * kib);
    const { outcome } = await play(server.url, { settings, hold });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "model_error", message: expect.stringContaining("all the memory") },
    });
    expect([server.requests.length, hold.heldBytes]).toEqual([1, 0]);
  });

  it("count a text twice as wide that was written with control characters alone", async () => {
    server.script(says("\u0001".repeat(10_000)));
    const hold = holdOf(10_000 * kib);
    await play(server.url, { settings, hold });
    expect(hold.heldBytes).toBeGreaterThan(240_000);
  });

  it("leave a run that asked for more than its limit with an error that names it", async () => {
    server.script(says("x".repeat(3_000)));
    const { outcome } = await play(server.url, { settings, maxAnswerBytes: 2_048 });
    expect(outcome).toMatchObject({
      error: { message: expect.stringMatching(/larger than 2048 bytes.*limits\.max_answer_bytes/) },
    });
  });

  it("leave out a tool's result for which there is no memory, and the model is told", async () => {
    const call = { id: "1", name: "large", arguments: "{}" };
    server.script([says({ calls: [call] }), says("done")]);
    const hold = holdOf(500 * kib);
    const { journal, outcome } = await play(server.url, {
      settings,
      hold,
      tools: [tool("large", { run: async () => "x".repeat(250_000) })],
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(dataOf(journal, "run.tool_result")).toMatchObject([
      { outcome: "error", result: expect.stringContaining("was dropped") },
    ]);
  });

  it("keep an answer whose calls take too much from being carried out; it stays on record", async () => {
    const call = { id: "1", name: "idle", arguments: `[${"{},".repeat(20_000)}{}]` };
    server.script(says({ calls: [call] }));
    const { journal, outcome } = await play(server.url, {
      settings,
      hold: holdOf(1_600 * kib),
      tools: [tool("idle")],
    });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "model_error" } });
    expect([dataOf(journal, "run.step").length, dataOf(journal, "run.tool_call").length]).toEqual([
      1, 0,
    ]);
  });
});

it("a stream may be eight times as long as what it says, framing included", async () => {
  server.script(body(`${": a comment\n\n".repeat(2_000)}`, "text/event-stream"));
  const { outcome } = await play(server.url, {
    settings: { stream: "always" },
    maxAnswerBytes: 2_048,
  });
  expect(outcome).toMatchObject({
    error: { message: expect.stringContaining("larger than 2048 bytes") },
  });
});

it("what a tool holds while it reads is given back", async () => {
  const call = { id: "1", name: "reader", arguments: "{}" };
  server.script([says({ calls: [call] }), says("done")]);
  const hold = holdOf(500 * kib);
  const reader = tool("reader", {
    async run(_args, context) {
      if (context.hold?.grow(400 * kib) !== true) throw new ToolFailure("no memory");
      context.hold.shrink(400 * kib);
      return "read";
    },
  });
  const { journal } = await play(server.url, { hold, tools: [reader] });
  expect(dataOf(journal, "run.tool_result")).toMatchObject([{ outcome: "ok", result: "read" }]);
  expect(hold.heldBytes).toBeLessThan(10 * kib);
});
