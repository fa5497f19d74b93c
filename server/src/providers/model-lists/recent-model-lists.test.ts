import { expect, test } from "vitest";
import { ModelLists } from "./recent-model-lists.ts";

/** Requests the list of a provider whose server responds to `/key` with this status. */
async function listAt(baseUrl: string, keyStatus: number) {
  const requests: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    requests.push(`${input} ${new Headers(init?.headers).get("authorization")}`);
    return String(input).endsWith("/key")
      ? new Response("{}", { status: keyStatus })
      : Response.json({ data: [{ id: "a/model" }] });
  };
  const provider = { name: "p", kind: "openai-compatible", baseUrl, apiKey: "sk-1" } as const;
  const { models, error } = await new ModelLists().fetch(provider, { fetch }, 10_000);
  return { models, error, requests };
}

const openRouter = "https://openrouter.ai/api/v1";
const [key, list] = [`${openRouter}/key Bearer sk-1`, `${openRouter}/models Bearer sk-1`];

test("a key that OpenRouter rejects does not work, although its list is public", async () => {
  const error = "It rejects the key (401).";
  expect(await listAt(openRouter, 401)).toEqual({ models: [], error, requests: [list, key] });
});

test.each([200, 404, 500])(
  "the list of OpenRouter is read if it answers %i about the key",
  async (status) => {
    const listed = { models: ["a/model"], error: null, requests: [list, key] };
    expect(await listAt(openRouter, status)).toEqual(listed);
  },
);

test("other servers are asked for nothing but their list", async () => {
  const { requests } = await listAt("https://openrouter.ai.example.org/api/v1", 401);
  expect(requests).toEqual(["https://openrouter.ai.example.org/api/v1/models Bearer sk-1"]);
});
