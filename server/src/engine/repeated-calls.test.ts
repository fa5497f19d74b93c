import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { play } from "../../test/engine-run.ts";
import { inBandError, says, startModelServer, status } from "../../test/model-server.ts";

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
