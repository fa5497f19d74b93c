import { expect, test } from "vitest";
import { defaultModel } from "./default-model.ts";

const demo = list("demo", "built_in", ["demo/echo"]);

function list(
  provider: string,
  origin: "built_in" | "workspace" | "environment",
  models: readonly string[],
) {
  return { provider, provider_id: null, origin, models: [...models], error: null };
}

test("without a provider a new agent uses the built-in model", () => {
  expect(defaultModel(undefined, [])).toBe("demo/echo");
  expect(defaultModel("demo/echo", [demo])).toBe("demo/echo");
});

test("a new agent uses the model of the newest agent", () => {
  const lists = [demo, list("open", "workspace", ["open/large"])];
  expect(defaultModel("open/small", lists)).toBe("open/small");
});

test("after the demo agent comes a model of a provider that answers in text", () => {
  const open = list("open", "workspace", ["open/text-embedding", "open/large"]);
  expect(defaultModel("demo/echo", [demo, open])).toBe("open/large");
  const sole = list("open", "environment", ["open/text-embedding"]);
  expect(defaultModel("demo/echo", [demo, sole])).toBe("open/text-embedding");
});

test("the operator's openai-chat comes after all others, but not a provider of that name", () => {
  const chat = list("openai-chat", "environment", ["openai-chat/gpt-5"]);
  const responses = list("openai", "environment", ["openai/gpt-5"]);
  expect(defaultModel("demo/echo", [chat, responses, demo])).toBe("openai/gpt-5");
  expect(defaultModel("demo/echo", [chat, demo])).toBe("openai-chat/gpt-5");
  const own = list("openai-chat", "workspace", ["openai-chat/own"]);
  expect(defaultModel("demo/echo", [own, responses, demo])).toBe("openai-chat/own");
});
