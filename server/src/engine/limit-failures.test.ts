import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { play } from "../../test/engine-run.ts";
import { says, startModelServer, status } from "../../test/model-server.ts";
import { elapsed } from "../base/clock.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const text = "the whole answer, word for word";

describe.each(["never", "always"] as const)("a model call streamed: %s", (stream) => {
  const settings = { stream };

  it.each<[string, Record<string, string>]>([
    [
      "Request too large for gpt-4.1 on tokens per min (TPM): Limit 30000, Requested 37313. The input or output tokens must be reduced in order to run successfully.",
      {},
    ],
    ["Extra usage is required for long context requests.", {}],
    ["slow down", { "x-should-retry": "false" }],
  ])("is not retried after a 429 that no wait ends: %s %o", async (message, headers) => {
    const error = { message, type: "tokens", code: "rate_limit_exceeded" };
    server.script(status(429, { headers, body: JSON.stringify({ error }) }));
    expect((await play(server.url, { settings })).outcome).toMatchObject({
      status: "failed",
      error: { message: `The model's provider answered 429: ${message}` },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("waits after a 402 of OpenRouter only if calls in flight hold the budget", async () => {
    const busy = (metadata: object, headers = {}) =>
      status(402, {
        headers,
        body: JSON.stringify({ error: { code: 402, message: "Add credits", metadata } }),
      });
    const inFlight = { limit_source: "openrouter_in_flight_budget" };
    const wait = { "retry-after": "0.06" };
    // More than the usual attempts, as after a 429.
    server.script([...[1, 2, 3, 4].map(() => busy(inFlight, wait)), says(text)]);
    const startedAt = elapsed();
    expect((await play(server.url, { settings })).outcome?.status).toBe("succeeded");
    expect(elapsed() - startedAt).toBeGreaterThanOrEqual(4 * 59);
    expect(server.requests).toHaveLength(5);

    for (const other of [busy(inFlight), busy({ limit_source: "openrouter_credits" }, wait)]) {
      server.reset();
      server.script([other, says(text)]);
      expect((await play(server.url, { settings })).outcome).toMatchObject({
        status: "failed",
        error: { message: "The model's provider answered 402: Add credits" },
      });
    }
  });
});
