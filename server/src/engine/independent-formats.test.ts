import type { ProviderKind } from "@beckon/contract";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play, productionFetch, tool } from "../../test/engine-run.ts";
import { providerModel } from "./models/provider-model.ts";

/**
 * Tests the formats with an independent server, which does not share the mistakes of our own
 * scripted server.
 */
const mock = await LLMock.create({ port: 0, logLevel: "silent" });
afterAll(() => mock.stop());
beforeEach(() => {
  mock.reset();
});

const formats: readonly (readonly [ProviderKind, string, string])[] = [
  ["openai", "gpt-5", "/v1"],
  ["openai-chat", "gpt-5", "/v1"],
  ["openai-compatible", "llama", "/v1"],
  ["anthropic", "claude-sonnet-4-5", "/v1"],
  ["google", "gemini-2.5-flash", "/v1beta"],
];
const cases = formats.flatMap(([kind, modelId, root]) =>
  (["never", "always"] as const).map((stream) => ({ kind, modelId, root, stream })),
);

describe.each(cases)(
  "$kind as served by @copilotkit/aimock, streamed: $stream",
  ({ kind, modelId, root, stream }) => {
    const options = () => ({
      model: providerModel(kind, {
        name: "mock",
        baseUrl: mock.url + root,
        apiKey: "key",
        modelId,
        transport: productionFetch,
      }),
      settings: { stream },
      input: "What is the weather?",
      retry: { maxAttempts: 2, baseWaitMs: 1, maxWaitMs: 1 },
    });

    it("calls a tool and answers with its result", async () => {
      mock.on(
        { userMessage: /weather/, hasToolResult: false },
        { toolCalls: [{ name: "weather", arguments: '{"city":"Bonn"}' }] },
      );
      mock.on(
        { userMessage: /weather/, hasToolResult: true, toolResultContains: "sun" },
        { content: "It is sunny in Bönn 😀." },
      );
      const asked: unknown[] = [];
      const weather = tool("weather", {
        run: async (args) => {
          asked.push(args);
          return "sunny";
        },
      });
      const { outcome, journal } = await play("", { ...options(), tools: [weather] });
      expect(outcome).toMatchObject({ status: "succeeded", output: "It is sunny in Bönn 😀." });
      expect(asked).toEqual([{ city: "Bonn" }]);
      expect(dataOf(journal, "run.step").map(({ finish_reason }) => finish_reason)).toEqual([
        "tool_calls",
        "stop",
      ]);
    });

    it.each([500, 503, 529])("continues after one %i", async (status) => {
      mock.on({ userMessage: /weather/ }, { content: "sunny" });
      mock.nextRequestError(status, { message: "busy", type: "server_error" });
      const { outcome, journal } = await play("", options());
      expect(outcome).toMatchObject({ status: "succeeded", output: "sunny" });
      expect(dataOf(journal, "run.step")[0]?.retries).toBe(1);
    });

    it.each([{ malformedRate: 1 }, { disconnectRate: 1 }, { dropRate: 1 }])(
      "fails clearly under %j",
      async (chaos) => {
        mock.on({ userMessage: /weather/ }, { content: "sunny" });
        mock.setChaos(chaos);
        const { outcome } = await play("", options());
        mock.clearChaos();
        expect(outcome).toMatchObject({ status: "failed", error: { code: "model_error" } });
      },
    );

    it.runIf(stream === "always")("does not accept a truncated stream as an answer", async () => {
      mock.on(
        { userMessage: /weather/ },
        { content: "sunny, and later on some rain" },
        { chunkSize: 4, truncateAfterChunks: 3 },
      );
      expect((await play("", options())).outcome).toMatchObject({
        status: "failed",
        error: { code: "model_error" },
      });
    });
  },
);
