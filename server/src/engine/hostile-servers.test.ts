import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataOf, type Played, play } from "../../test/engine-run.ts";
import { formatCases, scriptedKey, scriptedModel } from "../../test/format-cases.ts";
import { byteByByte, endless, gzipBomb, withLineEnd } from "../../test/hostile.ts";
import {
  type Behaviour,
  blackHole,
  type ChatBody,
  frame,
  inBandError,
  says,
  startModelServer,
  status,
  streams,
  withDelivery,
} from "../../test/model-server.ts";
import { elapsed } from "../base/clock.ts";
import { createLeanFetch } from "../base/egress/index.ts";
import type { RunRequest } from "./run-request.ts";
import { defaultTimeouts } from "./timeouts.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const text = "the whole answer, wörd for 😀 word";
const once = { maxAttempts: 1, baseWaitMs: 1, maxWaitMs: 1 };
const hasty = createLeanFetch({ connectTimeoutMs: 1_000, headersTimeoutMs: 50, bodyTimeoutMs: 50 });
const modelError = { status: "failed", error: { code: "model_error" } };
const modelTimeout = { status: "failed", error: { code: "model_timeout" } };

/** The runs of the current test. What they wrote is searched for secrets after the test. */
const executedRuns: Played[] = [];
afterEach(() => {
  for (const { journal, outcome, deltas } of executedRuns.splice(0)) {
    const all = JSON.stringify([journal.entries, outcome, deltas]);
    expect(all).not.toContain(scriptedKey);
    expect(all).not.toContain(encodeURIComponent(scriptedKey));
  }
});

describe.each(formatCases)(
  "a server of $wire.name for $kind, streamed: $stream",
  ({ kind, wire, stream }) => {
    const streamed = stream === "always";
    const path = `/v1${wire.path("model", streamed)}`;
    const run = async (
      behaviours: Behaviour | readonly Behaviour[],
      request: Pick<
        Partial<RunRequest>,
        "retry" | "timeouts" | "tools" | "maxSteps" | "maxAnswerBytes"
      > = {},
    ) => {
      server.script(behaviours);
      const played = await play(server.url, {
        model: scriptedModel(kind, server.url),
        settings: { stream },
        ...request,
      });
      executedRuns.push(played);
      return played;
    };
    const sizeOf = (behaviour: Behaviour) =>
      server.bytesOf(
        behaviour,
        { model: "model", stream: streamed, messages: [] } as ChatBody,
        path,
      );

    it("answers with the model's output", async () => {
      const { outcome, deltas } = await run(says(text));
      expect(outcome).toMatchObject({
        status: "succeeded",
        output: text,
        usage: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0 },
      });
      expect(server.requests.map((request) => request.path)).toEqual([path]);
      expect(deltas.filter(({ type }) => type === "text_delta").length > 3).toBe(streamed);
    });

    it.each([408, 429, 500, 502, 503, 529])("is called again after %i", async (code) => {
      expect((await run([status(code), says(text)])).outcome).toMatchObject({
        status: "succeeded",
        output: text,
      });
      const startedAt = elapsed();
      const failure = status(code, { headers: { "retry-after": "0.06" } });
      expect((await run([failure, says(text)])).outcome).toMatchObject({ status: "succeeded" });
      expect(elapsed() - startedAt).toBeGreaterThanOrEqual(59);
      // After 429 the call is repeated as long as the step lasts: see repeated-calls.test.ts.
      if (code === 429) return;
      expect((await run(status(code))).outcome).toMatchObject({
        ...modelError,
        error: { message: `The model's provider answered ${code}: scripted ${code}` },
      });
    });

    it("is not called again if it asks to wait longer than the rest of the step", async () => {
      const { outcome } = await run(status(429, { headers: { "retry-after": "100" } }));
      expect(outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringContaining("asks to wait 100 s") },
      });
      expect(server.requests).toHaveLength(1);
    });

    it.each([400, 401, 403, 404, 413])("is not called again after %i", async (code) => {
      expect((await run(status(code))).outcome).toMatchObject({
        ...modelError,
        error: { message: `The model's provider answered ${code}: scripted ${code}` },
      });
      expect(server.requests).toHaveLength(1);
    });

    it("that never answers holds a run until the step's timeout and no longer", async () => {
      const startedAt = elapsed();
      expect(
        (await run(blackHole, { timeouts: { ...defaultTimeouts, stepMs: 80 } })).outcome,
      ).toMatchObject(modelTimeout);
      expect(elapsed() - startedAt).toBeLessThan(10_000);
    });

    it("that stalls at any byte ends with model_timeout", async () => {
      const bytes = await sizeOf(says(text));
      const runs = Array.from({ length: 8 }, async (_, n) => {
        const own = await startModelServer();
        own.script(withDelivery({ type: "stall", after: Math.floor((n * bytes) / 8) }, says(text)));
        const { outcome } = await play(own.url, {
          model: scriptedModel(kind, own.url, hasty),
          settings: { stream },
          retry: once,
        });
        await own.close();
        return outcome;
      });
      for (const outcome of await Promise.all(runs)) expect(outcome).toMatchObject(modelTimeout);
    });

    it("that disconnects at any byte never makes a truncated text look complete", async () => {
      const bytes = await sizeOf(says(text));
      const step = Math.ceil(bytes / 40);
      for (let after = 0; after < bytes; after += step) {
        const truncated = withDelivery(
          { type: "cut", after, gently: (after / step) % 2 === 0 },
          says(text),
        );
        expect(
          (await run([truncated, says(text)])).outcome,
          `called again, disconnected after ${after}`,
        ).toMatchObject({
          status: "succeeded",
          output: text,
        });
        const { outcome } = await run([truncated], { retry: once });
        // The run can succeed if all content and the finish event had arrived and only the end of
        // the framing is missing.
        if (outcome?.status === "succeeded")
          expect(outcome.output, `cut after ${after} of ${bytes}`).toBe(text);
        else expect(outcome, `cut after ${after}`).toMatchObject(modelError);
      }
    });

    it("that sends an error with 200 is called again, unless the error is permanent", async () => {
      const busy = inBandError({
        message: "overloaded",
        type: "overloaded_error",
        code: kind === "google" ? 503 : null,
      });
      expect((await run([busy, says(text)])).outcome).toMatchObject({
        status: "succeeded",
        output: text,
      });
      expect((await run([busy], { retry: once })).outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/overloaded/) },
      });

      server.reset();
      expect(
        (await run(inBandError({ message: "bad words", type: "invalid_request_error" }))).outcome,
      ).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/bad words/) },
      });
      expect(server.requests).toHaveLength(1);
    });

    it.each([
      "",
      "{}",
      '{"hello":"world"}',
      "<html>Sign in to the airport</html>",
      "[]",
      "null",
      '{"error":null}',
    ])("that answers %j with 200 counts as failed", async (words) => {
      const type = streamed ? "text/event-stream" : "application/json";
      const odd: Behaviour = () => ({
        reply: {
          status: 200,
          headers: { "content-type": type },
          pieces: [streamed && words !== "" ? frame(words) : words],
        },
        delivery: { type: "complete" },
      });
      expect((await run([odd, says(text)])).outcome).toMatchObject({
        status: "succeeded",
        output: text,
      });
      expect((await run([odd], { retry: once })).outcome).toMatchObject(modelError);
    });

    it("that compresses its response is rejected", async () => {
      const { outcome } = await run(gzipBomb(says(text)));
      expect(outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/compressed/) },
      });
      expect(server.requests).toHaveLength(1);
    });

    it("can send its answer byte by byte", async () => {
      expect((await run(byteByByte(says(text)))).outcome).toMatchObject({
        status: "succeeded",
        output: text,
      });
    });

    it("can send ten megabytes in one line", async () => {
      const long = "0123456789".repeat(1_000_000);
      // Reading it takes seconds on a busy machine.
      const { outcome } = await run(says({ text: long }), {
        maxAnswerBytes: 32 * 1024 ** 2,
        timeouts: defaultTimeouts,
      });
      expect(outcome?.status === "succeeded" && outcome.output === long).toBe(true);
    });

    it("that sends a gigabyte is disconnected", async () => {
      const before = process.memoryUsage().rss;
      const [piece, closing] = streamed
        ? [
            streamPiece(wire.stream({ text: "x".repeat(64_000), usage: null }, "model").events),
            wire.stream({ text }, "model").closing,
          ]
        : [" ".repeat(64_000), 0];
      const { outcome } = await run(endless(piece, closing, says(text)), { retry: once });
      expect(outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/larger than/) },
      });
      expect(server.flooded).toBeLessThan(64 * 1024 ** 2);
      expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 ** 2);
    });

    it("that echoes the key does not reveal it", async () => {
      const leak = `Wrong key ${scriptedKey} (${encodeURIComponent(scriptedKey)})`;
      for (const behaviour of [
        status(401, { body: JSON.stringify(wire.error(401, leak)) }),
        status(401, { body: leak }),
        inBandError({ message: leak, type: "invalid_request_error" }),
      ]) {
        const { outcome } = await run(behaviour);
        expect(outcome).toMatchObject(modelError);
      }
    });

    const usages: readonly (readonly [string, number, number])[] = [
      ["negative", -5, -5],
      ["fractions", 1.5, 2.5],
      ["more than is plausible", 1e15, 1e15],
      ["nothing at all", 0, 0],
    ];
    it.each(usages)(
      "that reports %s as its usage gets an estimate instead",
      async (_what, prompt_tokens, completion_tokens) => {
        const { outcome } = await run(says({ text, usage: { prompt_tokens, completion_tokens } }));
        expect(outcome).toMatchObject({
          status: "succeeded",
          output: text,
          usage: { estimated: true },
        });
        expect(outcome?.usage.input_tokens).toBeGreaterThan(0);
        expect(outcome?.usage.input_tokens).toBeLessThan(1_000);
      },
    );

    it("that reports no usage gets an estimate", async () => {
      const { outcome } = await run(says({ text, usage: null }));
      expect(outcome).toMatchObject({ status: "succeeded", usage: { estimated: true } });
    });

    it.runIf(streamed)("that sends no finish event counts as failed", async () => {
      const unfinished = streams({ text }, (events, closing) =>
        events.slice(0, events.length - closing),
      );
      expect((await run([unfinished, says(text)])).outcome).toMatchObject({
        status: "succeeded",
        output: text,
      });
      expect((await run([unfinished], { retry: once })).outcome).toMatchObject(modelError);
    });

    it.runIf(streamed)(
      "that sends an unreadable event counts as failed, wherever the event is",
      async () => {
        const { events } = wire.stream({ text }, "model");
        // Positions after the finish event are not tested: no content can be lost there, so the
        // answer need not fail.
        for (let at = 0; at < events.length - 2; at += 3) {
          for (const piece of ["{broken", '"'.repeat(3)]) {
            const broken = streams({ text }, (all) => [
              ...all.slice(0, at),
              piece,
              ...all.slice(at),
            ]);
            expect((await run([broken, says(text)])).outcome, `at ${at}`).toMatchObject({
              status: "succeeded",
              output: text,
            });
            expect((await run([broken], { retry: once })).outcome, `at ${at}`).toMatchObject(
              modelError,
            );
          }
        }
      },
    );

    it.runIf(streamed).each(["\n", "\r", "\r\n"] as const)(
      "can end its lines with %j, split anywhere",
      async (end) => {
        expect((await run(withLineEnd(end, says(text)))).outcome).toMatchObject({
          status: "succeeded",
          output: text,
        });
        expect((await run(byteByByte(withLineEnd(end, says(text))))).outcome).toMatchObject({
          status: "succeeded",
          output: text,
        });
      },
    );

    it("determines the finish reason", async () => {
      expect((await run(says({ text, finish: "length" }))).outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/output limit/) },
      });
      expect((await run(says({ text, finish: "content_filter" }))).outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/content filter/) },
      });
      expect((await run(says({ text, finish: "meteor" }))).outcome).toMatchObject(modelError);
      const full = says({ text, finish: "model_context_window_exceeded" });
      expect((await run(full)).outcome).toMatchObject({
        ...modelError,
        error: { message: expect.stringMatching(/context is full/) },
      });
      expect((await run(says({ text, finish: null }), { retry: once })).outcome?.status).toMatch(
        streamed || kind === "openai" ? "failed" : "succeeded",
      );
      expect(
        dataOf((await run([says({ text, finish: "failed" })], { retry: once })).journal, "run.step")
          .length,
      ).toBeLessThanOrEqual(1);
    });
  },
);

/** Returns the longest event that contains a delta, as a frame; the first event if none does. */
function streamPiece(events: readonly unknown[]): string {
  return (
    events
      .map(frame)
      .reduce(
        (longest, each) =>
          each.includes("delta") && each.length > longest.length ? each : longest,
        "",
      ) || frame(events[0])
  );
}
