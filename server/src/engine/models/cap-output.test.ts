import { expect, test } from "vitest";
import { rawNumber } from "../../base/json/index.ts";
import { anthropicModel } from "./anthropic.ts";
import { outputBoundOption } from "./cap-output.ts";

/**
 * A model for which the library for Anthropic adds the budget for thinking to the maximum number of
 * tokens.
 */
const modelId = "claude-sonnet-4-20250514";

interface Sent {
  readonly headers: Headers;
  readonly text: string;
  readonly body: { readonly max_tokens: number; readonly thinking?: { budget_tokens: number } };
}

/** Returns what is sent for a call with these options. */
async function sentFor(options: object): Promise<Sent> {
  let sent: Sent | undefined;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const text = String(init?.body);
    sent = { headers: new Headers(init?.headers), text, body: JSON.parse(text) };
    return new Response("{}", { status: 400 });
  };
  const model = anthropicModel({
    name: "anthropic",
    baseUrl: "http://127.0.0.1:9/v1",
    apiKey: "key",
    modelId,
    transport: {
      fetch,
      fetchEncoded: fetch,
      call: () => Promise.reject(new Error("Anthropic's models are called with fetch")),
    },
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
  await Promise.resolve(model.doGenerate({ prompt, ...options })).catch(() => {});
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}

test("without a bound, thinking comes on top of the maximum number of tokens", async () => {
  const { body } = await sentFor({ maxOutputTokens: 10_000, reasoning: "low" });
  const budget = body.thinking?.budget_tokens ?? 0;
  expect(budget).toBeGreaterThan(0);
  expect(body.max_tokens).toBe(10_000 + budget);
});

test.each([
  [10_000, 5_000],
  [2_048, 1_024],
])("with a bound of %i tokens, thinking is part of it", async (bound, thinking) => {
  const { body, headers } = await sentFor({ ...outputBoundOption(bound), reasoning: "high" });
  expect(body).toMatchObject({ max_tokens: bound, thinking: { budget_tokens: thinking } });
  expect([...headers.keys()].filter((name) => name.startsWith("beckon"))).toEqual([]);
});

test("with a bound, large integers in the arguments of earlier tool calls are sent exactly", async () => {
  const toolCall = { type: "tool-call", toolCallId: "a", toolName: "t" } as const;
  const { body, text } = await sentFor({
    ...outputBoundOption(10_000),
    reasoning: "high",
    prompt: [
      { role: "user", content: [{ type: "text", text: "Hello" }] },
      {
        role: "assistant",
        content: [{ ...toolCall, input: { id: rawNumber("1234567890123456789") } }],
      },
      {
        role: "tool",
        content: [
          {
            ...{ type: "tool-result", toolCallId: "a", toolName: "t" },
            output: { type: "text", value: "found" },
          },
        ],
      },
    ],
  });
  expect(body.max_tokens).toBe(10_000);
  expect(text).toContain('"input":{"id":1234567890123456789}');
});

test("with a bound that is too small for thinking, there is none", async () => {
  const { body } = await sentFor({ ...outputBoundOption(2_047), reasoning: "high" });
  expect(body.max_tokens).toBe(2_047);
  expect(body.thinking).toBeUndefined();
});

test("a bound without thinking changes nothing else", async () => {
  const { body, headers } = await sentFor(outputBoundOption(300));
  expect(body.max_tokens).toBe(300);
  expect(headers.has("beckon-output-bound")).toBe(false);
});
