import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { play, productionFetch, tool } from "../../../test/engine-run.ts";
import { says, startModelServer } from "../../../test/model-server.ts";
import { openAIModel } from "./openai.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const modelOf = (modelId: string) =>
  openAIModel({ name: "scripted", baseUrl: server.url, modelId, transport: productionFetch });

describe("a model of openai with another name than OpenAI's", () => {
  it.each(["prod", "openai/gpt-5-mini", "ft:o4-mini-2025-04-16:acme"])(
    "is sent the reasoning effort, and gets its reasoning back: %s",
    async (name) => {
      server.script([
        says({
          reasoning: "Look it up.",
          signature: "proof+/=",
          calls: [{ id: "call_1", name: "look_up", arguments: "{}" }],
        }),
        says("It is navy."),
      ]);
      await play(server.url, {
        model: modelOf(name),
        settings: { stream: "never", reasoning_effort: "high" },
        instructions: "Be brief.",
        tools: [tool("look_up")],
      });
      expect(server.requests[1]?.body).toMatchObject({
        reasoning: { effort: "high" },
        include: ["reasoning.encrypted_content"],
        input: [
          { role: "system" },
          { role: "user" },
          { type: "reasoning", encrypted_content: "proof+/=" },
          { type: "function_call" },
          { type: "function_call_output" },
        ],
      });
    },
  );

  it.each([undefined, "none"] as const)(
    "is called as one that does not reason with the effort %s",
    async (reasoning_effort) => {
      server.script(says("hello"));
      const effort = reasoning_effort && { reasoning_effort };
      const settings = { stream: "never", temperature: 0.5, ...effort } as const;
      await play(server.url, { model: modelOf("prod"), settings });
      expect(server.requests[0]?.body).toMatchObject({ temperature: 0.5 });
      expect(server.requests[0]?.body).not.toHaveProperty("reasoning");
    },
  );
});
