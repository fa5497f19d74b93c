import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { callsIn, play } from "../../test/engine-run.ts";
import { type FormatCase, scriptedModel } from "../../test/format-cases.ts";
import { type Behaviour, body, says, startModelServer, status } from "../../test/model-server.ts";
import { elapsed } from "../base/clock.ts";

/**
 * Model calls with responses that only one API format has. `hostile-servers.test.ts` has the tests
 * that apply to all formats.
 */

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const run = async (
  kind: FormatCase["kind"],
  stream: FormatCase["stream"],
  behaviours: readonly Behaviour[],
) => {
  server.script(behaviours);
  return play(server.url, {
    model: scriptedModel(kind, server.url),
    settings: { stream },
    retry: { maxAttempts: behaviours.length, baseWaitMs: 1, maxWaitMs: 1 },
  });
};
const modelError = { status: "failed", error: { code: "model_error" } };

describe("a response of OpenAI", () => {
  const message = {
    type: "message",
    id: "m",
    role: "assistant",
    content: [{ type: "output_text", text: "half a te", annotations: [] }],
  };
  const response = (rest: object) => ({
    id: "r",
    object: "response",
    created_at: 1,
    model: "m",
    output: [message],
    error: null,
    ...rest,
  });
  const unfinished = [
    response({ status: "in_progress" }),
    response({ status: "failed" }),
    response({ status: "cancelled" }),
    response({ status: "incomplete" }),
    response({ status: "incomplete", incomplete_details: null }),
    response({ status: "failed", error: { code: "server_error", message: "sorry" } }),
  ];

  it.each(unfinished)("that is %j fails the call", async (unfinishedOne) => {
    const odd = body(JSON.stringify(unfinishedOne));
    expect((await run("openai", "never", [odd])).outcome).toMatchObject(modelError);
    expect((await run("openai", "never", [odd, says("whole")])).outcome).toMatchObject({
      status: "succeeded",
      output: "whole",
    });
  });

  it("that is incomplete without a reason fails the call when streamed too", async () => {
    const end = {
      type: "response.incomplete",
      response: response({ status: "incomplete", incomplete_details: null, usage: null }),
    };
    const added = {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...message, status: "in_progress", content: [] },
    };
    const delta = {
      type: "response.output_text.delta",
      item_id: "m",
      output_index: 0,
      content_index: 0,
      delta: "half a te",
    };
    const done = {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...message, status: "incomplete" },
    };
    const events = [added, delta, done, end].map(
      (event, sequence_number) => `data: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    );
    const odd = body(events.join(""), "text/event-stream");
    expect((await run("openai", "always", [odd])).outcome).toMatchObject(modelError);
  });

  it("in which the model refuses in its own words is an answer", async () => {
    const refusal = { ...message, content: [{ type: "refusal", refusal: "I would rather not." }] };
    const { outcome } = await run("openai", "never", [
      body(JSON.stringify(response({ status: "completed", output: [refusal] }))),
    ]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "I would rather not." });
  });
});

describe("an answer of Google's", () => {
  it("that asks for a wait in its body gets it", async () => {
    const error = {
      code: 429,
      message: "slow down",
      status: "RESOURCE_EXHAUSTED",
      details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.06s" }],
    };
    const startedAt = elapsed();
    const { outcome } = await run("google", "never", [
      status(429, { body: JSON.stringify({ error }) }),
      says("here"),
    ]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "here" });
    expect(elapsed() - startedAt).toBeGreaterThanOrEqual(59);
  });

  it.each(["never", "always"] as const)(
    "that never ends its continuations is aborted (streamed: %s)",
    async (stream) => {
      const piece = {
        candidates: [
          {
            content: { role: "model", parts: [{ text: "and " }] },
            finishReason: "CONTINUATION",
            continuationToken: "t",
          },
        ],
      };
      const text = JSON.stringify(piece);
      const endless =
        stream === "never" ? body(text) : body(`data: ${text}\n\n`, "text/event-stream");
      server.script(endless);
      const { outcome } = await play(server.url, {
        model: scriptedModel("google", server.url),
        settings: { stream },
      });
      expect(outcome).toMatchObject({
        ...modelError,
        error: { message: "The model's answer needs more than 16 continuation requests." },
      });
      expect(server.requests).toHaveLength(16);
    },
  );

  it.each(["never", "always"] as const)(
    "is not continued if its output is bounded by a limit, and ends as truncated (streamed: %s)",
    async (stream) => {
      const text = JSON.stringify({
        candidates: [
          {
            content: { role: "model", parts: [{ text: "half a te" }] },
            finishReason: "CONTINUATION",
            continuationToken: "t",
          },
        ],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7 },
      });
      server.script(
        stream === "never" ? body(text) : body(`data: ${text}\n\n`, "text/event-stream"),
      );
      const limit = { maxOutputTokens: 50, isReserved: true, coversNext: () => false };
      const { outcome, journal } = await play(server.url, {
        model: scriptedModel("google", server.url),
        settings: { stream, max_output_tokens: 50 },
        limitAttempt: () => Promise.resolve({ ...limit, endOfTruncated: undefined }),
      });
      expect(outcome).toMatchObject({ status: "succeeded", output: "half a te" });
      expect(callsIn(journal)).toMatchObject([
        { outcome: "answered", usage: { input_tokens: 10, output_tokens: 12 } },
      ]);
      expect(server.requests).toMatchObject([
        { body: { generationConfig: { maxOutputTokens: 50 } } },
      ]);
      expect(server.requests[0]?.headers).not.toHaveProperty("beckon-output-bound");
    },
  );

  it.each(["never", "always"] as const)(
    "that was blocked is a content filter's rejection (streamed: %s)",
    async (stream) => {
      const text = JSON.stringify({
        promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
        usageMetadata: { promptTokenCount: 5 },
      });
      const blocked =
        stream === "never" ? body(text) : body(`data: ${text}\n\n`, "text/event-stream");
      expect((await run("google", stream, [blocked])).outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/content filter/) },
      });
    },
  );
});
