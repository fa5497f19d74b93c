import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { play, tool } from "../../test/engine-run.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import type { LimitAttempt } from "./call-limit.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

/** The output bound that Beckon sends because of a limit. */
const bound = 16_384;

const limitAttempt: LimitAttempt = async () => ({
  maxOutputTokens: bound,
  isReserved: true,
  coversNext: () => false,
  endOfTruncated: undefined,
});

interface Truncated {
  /** Output tokens of the answer. Default: as many as the bound allows. */
  readonly outputTokens?: number;
  readonly callsTools?: boolean;
  /** `max_output_tokens` of the agent. Default: none. */
  readonly maxOutputTokens?: number;
  readonly isLimited?: boolean;
}

/** Plays a run whose answer is truncated. Returns the text of its error, or its status. */
async function truncated(given: Truncated = {}): Promise<string | undefined> {
  const { outputTokens = bound, callsTools = false, maxOutputTokens, isLimited = true } = given;
  const call = { id: "a", name: "echo", arguments: "{}" };
  server.script(
    says({
      ...(callsTools ? { calls: [call] } : { text: "cut" }),
      finish: "length",
      usage: { prompt_tokens: 10, completion_tokens: outputTokens },
    }),
  );
  const { outcome } = await play(server.url, {
    tools: [tool("echo")],
    settings: {
      stream: "auto",
      ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    },
    ...(isLimited && { limitAttempt }),
  });
  return outcome?.status === "failed" ? outcome.error.message : outcome?.status;
}

describe("the error of a truncated answer explains the bound that Beckon sent", () => {
  it("of a text", async () => {
    expect(await truncated()).toBe(
      "The model reached its output limit before its answer was complete. Set max_output_tokens to accept truncated answers. Because a limit of cost or usage applies, Beckon asked for at most 16384 tokens of output. For longer answers, raise limits.reserve_output_tokens of the agent or set a higher max_output_tokens.",
    );
  });

  it("of tool calls", async () => {
    expect(await truncated({ callsTools: true })).toMatch(
      /calling tools\. Because .* at most 16384 tokens .* limits\.reserve_output_tokens .* max_output_tokens\.$/,
    );
  });

  it("but not if the model, no limit or the agent truncated it", async () => {
    expect(await truncated({ outputTokens: 8_192 })).toMatch(
      /accept truncated answers\. If you run the model server, .*$/,
    );
    expect(await truncated({ isLimited: false })).toMatch(
      /accept truncated answers\. If you run the model server, .*$/,
    );
    expect(await truncated({ maxOutputTokens: bound })).toBe("succeeded");
    expect(await truncated({ maxOutputTokens: bound, callsTools: true })).toMatch(
      /calling tools\. Raise max_output_tokens\. If you run the model server, .*$/,
    );
  });
});
