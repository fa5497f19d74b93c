import { expect, test } from "vitest";
import { tool } from "../../../test/engine-run.ts";
import type { Step } from "../history.ts";
import { planCalls } from "./plan-calls.ts";

test("calls above the maximum of a step are rejected without the names of all tools", () => {
  const tools = Array.from({ length: 128 }, (_, n) => tool(`tool_${n}_`.padEnd(64, "x")));
  const step: Step = {
    step: 1,
    model: "scripted/model",
    parts: Array.from({ length: 10_000 }, (_, n) => ({
      type: "tool_call" as const,
      call_id: `call_${n}`,
      tool: "a",
      arguments: "",
    })),
    finish_reason: "tool_calls",
    usage: { input_tokens: 1, output_tokens: 1, cached_input_tokens: 0 },
    cost_micros: 0,
    duration_ms: 1,
    retries: 0,
  };
  const { entries, calls } = planCalls("run_1", step, tools, []);
  expect([entries.length, calls.length]).toEqual([10_000, 0]);
  // If the errors listed the names of the tools, each of the 10,000 results would have more than
  // 8,000 characters.
  expect(JSON.stringify(entries).length).toBeLessThan(5_000_000);
});
