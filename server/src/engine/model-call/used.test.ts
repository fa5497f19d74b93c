import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { callsIn, play } from "../../../test/engine-run.ts";
import { body, says, startModelServer, withDelivery } from "../../../test/model-server.ts";
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
});
