import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { callsIn, play } from "../../test/engine-run.ts";
import {
  type Behaviour,
  inBandError,
  says,
  startModelServer,
  status,
  withDelivery,
} from "../../test/model-server.ts";

/** Which failed model calls are repeated, how often, and how. */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

describe.each(["never", "always"] as const)("a tool call that Groq cannot read (%s)", (stream) => {
  const error = {
    message: "Failed to call a function. See 'failed_generation' for more details.",
    type: "invalid_request_error",
    code: "tool_use_failed",
    failed_generation: "<function=look{}sk-proj-abcdefgh1234>",
  };
  const settings = { stream };

  it.each([
    ["rejects with 400", status(400, { body: JSON.stringify({ error }) })],
    ["reports inside a 200", inBandError(error)],
  ])("and %s is requested again, because it is a property of the sample", async (_how, failed) => {
    server.script([failed, failed, says("done")]);
    const { outcome } = await play(server.url, { settings });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(server.requests).toHaveLength(3);
  });

  it("is shown, without keys, when all attempts failed", async () => {
    server.script(status(400, { body: JSON.stringify({ error }) }));
    const { outcome } = await play(server.url, { settings });
    expect(server.requests).toHaveLength(3);
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        message: `The model's provider answered 400: ${error.message} It generated: <function=look{}[secret]>`,
      },
    });
  });
});

it("a call that Groq rejects with 498, because it has no capacity, is repeated", async () => {
  server.script([status(498), says("done")]);
  expect((await play(server.url)).outcome).toMatchObject({ status: "succeeded", output: "done" });
});

describe("a call that is not streamed", () => {
  const streamed = () => server.requests.map(({ body }) => body.stream === true);
  const auto = { settings: { stream: "auto" as const } };

  it.each([408, 504, 524])(
    "and that a proxy ends with %i is streamed next, because the same wait would end the same way",
    async (code) => {
      server.script([status(code), says("done")]);
      expect((await play(server.url, auto)).outcome).toMatchObject({ status: "succeeded" });
      expect(streamed()).toEqual([false, true]);
    },
  );

  it.each([408, 504, 524])(
    "counts as lost after %i, because the provider may have generated its answer",
    async (code) => {
      server.script([status(code), says("done")]);
      const { journal } = await play(server.url);
      expect(callsIn(journal)).toMatchObject([
        { outcome: "lost", usage: { estimated: true } },
        { outcome: "answered" },
      ]);
      expect(callsIn(journal)[0]?.usage.input_tokens).toBeGreaterThan(0);
    },
  );

  it.each([408, 504, 524])("is not streamed after %i if the agent forbids it", async (code) => {
    server.script([status(code), says("done")]);
    await play(server.url, { settings: { stream: "never" } });
    expect(streamed()).toEqual([false, false]);
  });

  it.each([
    ["streamed next if its connection breaks after more than 30 s", 31, true],
    ["not streamed next if its connection breaks earlier", 29, false],
  ])("is %s", async (_what, seconds, next) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const broken: Behaviour = async (...request) => {
      vi.advanceTimersByTime(seconds * 1_000);
      return withDelivery({ type: "cut", after: 0 }, says("never"))(...request);
    };
    server.script([broken, says("done")]);
    const { outcome } = await play(server.url, {
      ...auto,
      timeouts: { connectMs: 10_000, idleMs: 120_000, stepMs: 600_000 },
    });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done" });
    expect(streamed()).toEqual([false, next]);
  });

  it("stays so after a quick failure", async () => {
    server.script([status(503), status(429), says("done")]);
    await play(server.url, auto);
    expect(streamed()).toEqual([false, false, false]);
  });
});
