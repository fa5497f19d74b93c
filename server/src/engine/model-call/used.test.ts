import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { callsIn, play, productionFetch } from "../../../test/engine-run.ts";
import { eventually } from "../../../test/eventually.ts";
import { body, says, startModelServer, withDelivery } from "../../../test/model-server.ts";
import { RunStopped } from "../journal.ts";
import { providerModel } from "../models/index.ts";
import type { RunRequest } from "../run-request.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const longWords = `${"x".repeat(999)} `.repeat(20);
const none = { cached_input_tokens: 0 };
/** Reserves up to `maxOutputTokens` for each attempt. */
const reserving = (maxOutputTokens: number): Pick<RunRequest, "limitAttempt"> => ({
  limitAttempt: async () => ({
    maxOutputTokens,
    isReserved: true,
    coversNext: () => false,
    endOfTruncated: undefined,
  }),
});
/** A call whose thinking budget Anthropic's library adds to `max_output_tokens`. */
const thinking = (stream: "never" | "always", max_output_tokens: number) => ({
  model: providerModel("anthropic", {
    name: "scripted",
    baseUrl: server.url,
    modelId: "claude-sonnet-4-20250514",
    transport: productionFetch,
  }),
  settings: { stream, max_output_tokens, reasoning_effort: "low" as const },
});

describe.each(["never", "always"] as const)("the usage of a call, streamed: %s,", (stream) => {
  it.each([
    ["max_output_tokens", { max_output_tokens: 200_000 }, 200_000],
    ["the output of a model without a limit", {}, 128_000],
  ])("is what the provider reports if hidden reasoning uses up %s", async (_what, more, output) => {
    const usage = { prompt_tokens: 30, completion_tokens: output, reasoning_tokens: output };
    server.script([says({ text: "", finish: "length", usage })]);
    const { outcome } = await play(server.url, { settings: { stream, ...more } });
    expect(outcome?.usage).toEqual({
      ...none,
      input_tokens: 30,
      output_tokens: output,
      reasoning_tokens: output,
    });
  });

  it("is what the provider reports if the model ignores the output limit that was reserved", async () => {
    const usage = { prompt_tokens: 30, completion_tokens: 200_000 };
    server.script([says({ text: "x".repeat(400_000), usage })]);
    const { outcome } = await play(server.url, { settings: { stream }, ...reserving(100) });
    expect(outcome?.usage).toEqual({ ...none, input_tokens: 30, output_tokens: 200_000 });
  });

  it("is estimated with at most the output that was reserved", async () => {
    const answer = says({ text: "x".repeat(450), usage: null });
    const estimateWith = async (limit: Pick<RunRequest, "limitAttempt"> = {}) => {
      server.script([answer]);
      const { journal } = await play(server.url, { settings: { stream }, ...limit });
      return callsIn(journal).map(({ usage }) => usage);
    };
    const estimated = { estimated: true, input_tokens: expect.any(Number) };
    expect(await estimateWith()).toMatchObject([{ ...estimated, output_tokens: 113 }]);
    expect(await estimateWith(reserving(100))).toMatchObject([
      { ...estimated, output_tokens: 100 },
    ]);
  });

  it.each([
    // If the call is streamed, no output is found in the HTML page. If it is not, all bytes of the
    // page count as output.
    ["cannot be read", body("<html>".repeat(1_000), "text/html"), stream === "never" ? 100 : 0],
    ["breaks off", withDelivery({ type: "cut", after: 10_000 }, says(longWords)), 100],
  ])("is at most what was reserved if the response %s", async (_what, lost, output) => {
    server.script([lost, says("done")]);
    const { journal } = await play(server.url, { settings: { stream }, ...reserving(100) });
    expect(callsIn(journal)).toMatchObject([
      { outcome: "lost", usage: { output_tokens: output, estimated: true } },
      { outcome: "answered" },
    ]);
  });

  it.each([
    ["0 tokens if it is cancelled in the first two seconds", 1.9, {}, 0],
    ["100 tokens for each second of silence after the first two", 12, {}, 1_000],
    ["what was reserved at most", 12, reserving(300), 300],
    ["max_output_tokens at most", 12, { settings: { stream, max_output_tokens: 300 } }, 300],
    ["more than max_output_tokens if thinking is added to it", 12, thinking(stream, 300), 1_000],
  ])("is estimated with an output of %s", async (_what, seconds, limit, output) => {
    server.script([withDelivery({ type: "stall", after: 0 }, says("done"))]);
    const isReached = () => server.requests.length === 1;
    const { calls } = await playCancelled({ settings: { stream }, ...limit }, isReached, seconds);
    expect(calls).toMatchObject([
      { outcome: "lost", usage: { output_tokens: output, estimated: true } },
    ]);
  });
});

it("the output of a stream that is cancelled while text arrives is the text that arrived", async () => {
  server.script([withDelivery({ type: "stall", after: 10_000 }, says(longWords))]);
  const isReached = (text: string) => text !== "";
  const { calls, text } = await playCancelled({ settings: { stream: "always" } }, isReached, 600);
  expect(calls).toMatchObject([
    { outcome: "lost", usage: { output_tokens: Math.ceil(text.length / 4) } },
  ]);
});

/**
 * Plays a run and cancels it `seconds` after `isReached`, on the engine's clock. `isReached` gets
 * the text that has arrived so far.
 */
async function playCancelled(
  options: Omit<Partial<RunRequest>, "journal">,
  isReached: (text: string) => boolean,
  seconds: number,
) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const stop = new AbortController();
  let text = "";
  const played = play(server.url, {
    ...options,
    signal: stop.signal,
    onDelta: (delta) => {
      if (delta.type === "text_delta") text += delta.text;
    },
  });
  await eventually("the model call", () => isReached(text) || undefined);
  vi.advanceTimersByTime(seconds * 1_000);
  stop.abort(new RunStopped("cancelled"));
  return { calls: callsIn((await played).journal), text };
}
