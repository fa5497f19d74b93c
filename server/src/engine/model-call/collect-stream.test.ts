import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { collectStream } from "./collect-stream.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finish: LanguageModelV4StreamPart = {
  type: "finish",
  usage,
  finishReason: { unified: "stop", raw: "stop" },
};
const never = new AbortController().signal;
const collect = (...parts: LanguageModelV4StreamPart[]) =>
  collectStream(ReadableStream.from(parts), never, { onText: () => undefined });

describe("a model's stream", () => {
  it("keeps blocks in the order in which they began, and merges their metadata", async () => {
    const { content } = await collect(
      { type: "reasoning-start", id: "1", providerMetadata: { p: { begun: true } } },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "one " },
      { type: "reasoning-delta", id: "1", delta: "hm" },
      { type: "text-delta", id: "1", delta: "two" },
      { type: "text-end", id: "1" },
      { type: "reasoning-end", id: "1", providerMetadata: { q: { signature: "s" } } },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: "{}" },
      finish,
    );
    expect(content).toEqual([
      {
        type: "reasoning",
        text: "hm",
        providerMetadata: { p: { begun: true }, q: { signature: "s" } },
      },
      { type: "text", text: "one two" },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: "{}" },
    ]);
  });

  it("keeps the text of a block whose id is used again", async () => {
    const { content } = await collect(
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "one " },
      { type: "text-end", id: "1" },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "two" },
      { type: "text-end", id: "1" },
      finish,
    );
    expect(content).toEqual([
      { type: "text", text: "one " },
      { type: "text", text: "two" },
    ]);
  });

  it("charges each tool call once, also if calls have the same id", async () => {
    let keptBytes = 0;
    let writtenBytes = 0;
    const input = "x".repeat(1_000);
    const call: LanguageModelV4StreamPart[] = [
      { type: "tool-input-delta", id: "a", delta: input },
      { type: "tool-call", toolCallId: "a", toolName: "t", input },
    ];
    const parts = [...Array.from({ length: 5 }, () => call).flat(), finish];
    await collectStream(ReadableStream.from(parts), never, {
      onText: () => undefined,
      onRead: (bytes) => {
        keptBytes += bytes;
      },
      onOutput: (bytes) => {
        writtenBytes += bytes;
      },
    });
    expect(writtenBytes).toBe(5 * (1_000 + "t".length));
    expect(keptBytes).toBeGreaterThanOrEqual(writtenBytes);
  });

  it("without a finish event is no answer", async () => {
    const truncated = collect(
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "half" },
    );
    await expect(truncated).rejects.toMatchObject({ name: "ModelFailure", retryable: true });
  });

  it("with text of a block that never began is no answer", async () => {
    await expect(
      collect({ type: "text-delta", id: "1", delta: "?" }, finish),
    ).rejects.toMatchObject({ name: "ModelFailure" });
  });

  it("is cancelled at once by its signal, even if it ignores that", async () => {
    let cancelled: unknown;
    const silent = new ReadableStream<LanguageModelV4StreamPart>({
      cancel(reason) {
        cancelled = reason;
        return new Promise(() => undefined);
      },
    });
    const reason = new Error("enough");
    const controller = new AbortController();
    const collecting = collectStream(silent, controller.signal, { onText: () => undefined });
    controller.abort(reason);
    await expect(collecting).rejects.toBe(reason);
    expect(cancelled).toBe(reason);
  });

  it("whose parts are all there at once can be stopped before they are all read", async () => {
    function* parts(): Generator<LanguageModelV4StreamPart> {
      yield { type: "text-start", id: "1" };
      for (let count = 0; count < 50_000; count++)
        yield { type: "text-delta", id: "1", delta: "word " };
      yield finish;
    }
    let deltas = 0;
    const reason = new Error("enough");
    const controller = new AbortController();
    setImmediate(() => controller.abort(reason));
    const collecting = collectStream(ReadableStream.from(parts()), controller.signal, {
      onText: () => {
        deltas += 1;
      },
    });
    await expect(collecting).rejects.toBe(reason);
    expect(deltas).toBeLessThan(1_000);
  });
});
