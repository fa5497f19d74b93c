import { expect, it } from "vitest";
import { createLeanFetch } from "../../base/egress/index.ts";
import { outputBoundOption } from "./cap-output.ts";
import { openAICompatibleModel } from "./openai-compatible.ts";

const limits = { connectTimeoutMs: 1_000, headersTimeoutMs: 1_000, bodyTimeoutMs: 1_000 };
const settings = {
  name: "p",
  baseUrl: "http://127.0.0.1:1/v1",
  apiKey: "key-1",
  modelId: "m",
  transport: createLeanFetch(limits),
};

it("is built once for the same settings, and again for a changed key, URL, model or transport", () => {
  const model = openAICompatibleModel(settings);
  expect(openAICompatibleModel({ ...settings })).toBe(model);
  for (const change of [
    { apiKey: "key-2" },
    { baseUrl: "http://127.0.0.1:2/v1" },
    { modelId: "n" },
    { transport: createLeanFetch(limits) },
  ]) {
    expect(openAICompatibleModel({ ...settings, ...change })).not.toBe(model);
  }
});

it("caches a limited number, the most recently used ones", () => {
  const first = openAICompatibleModel({ ...settings, modelId: "used again" });
  const idle = openAICompatibleModel({ ...settings, modelId: "idle" });
  for (let n = 0; n < 999; n += 1) {
    openAICompatibleModel({ ...settings, modelId: `filler ${n}` });
    openAICompatibleModel({ ...settings, modelId: "used again" });
  }
  expect(openAICompatibleModel({ ...settings, modelId: "used again" })).toBe(first);
  expect(openAICompatibleModel({ ...settings, modelId: "idle" })).not.toBe(idle);
});

it("sends an output bound as max_tokens only, even if the provider is called beckon", async () => {
  const bodies: unknown[] = [];
  const model = openAICompatibleModel({
    ...settings,
    name: "beckon",
    transport: {
      ...settings.transport,
      call: (_url, { body }) => {
        bodies.push(JSON.parse(String(body)));
        return Promise.reject(new Error("not sent"));
      },
    },
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
  await expect(model.doGenerate({ prompt, ...outputBoundOption(300) })).rejects.toThrow("not sent");
  expect(bodies).toEqual([
    { model: "m", max_tokens: 300, messages: [{ role: "user", content: "Hello" }] },
  ]);
});
