import type { Agent } from "@beckon/client";
import { describe, expect, test } from "vitest";
import { bodyOf, fieldsOf, type Tool } from "./fields.ts";
import { changesIn, checkSettings, type FormValues, isUnsaved, valuesOf } from "./form-values.ts";

const agent: Agent = {
  id: "agt_1",
  version: 3,
  name: "Desk",
  description: "",
  instructions: "Be brief.",
  model: "demo/echo",
  model_settings: { stream: "auto", temperature: 0.5 },
  tools: [{ type: "clock" }],
  limits: {
    max_steps: 20,
    timeout_seconds: 600,
    max_concurrent_runs: null,
    max_queued_runs: 10_000,
    max_attempts: 3,
    max_answer_bytes: 4_194_304,
    max_cost_micros: null,
    reserve_output_tokens: 16_384,
  },
  metadata: { team: "a" },
  provider_id: null,
  paused: false,
  paused_by: null,
  pause_reason: null,
  created_at: "2026-11-03T10:00:00.000Z",
  updated_at: "2026-11-03T10:00:00.000Z",
};
const base = fieldsOf(agent);
const values = valuesOf(base);

function errorsOf(changes: Partial<FormValues>, stored = base): Record<string, string | undefined> {
  const { errors } = checkSettings({ ...valuesOf(stored), ...changes }, stored);
  return Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, error?.message]));
}

test("a text with other line breaks is no change, because a text area has only \\n", () => {
  const written = { ...base, instructions: "One\r\nTwo\rThree", description: "A\r\nB" };
  expect(valuesOf(written)).toMatchObject({ instructions: "One\nTwo\nThree", description: "A\nB" });
  const left = { ...valuesOf(written), instructions: "One\nTwo\nThree" };
  expect(changesIn(left, written)).toEqual({});
  expect(isUnsaved(left, written)).toBe(false);
  const edited = { ...left, instructions: "One\nTwo\nFour" };
  expect(changesIn(edited, written)).toEqual({ instructions: "One\nTwo\nFour" });
});

test("a form that was only filled in has no changes and no errors", () => {
  expect(changesIn(values, base)).toEqual({});
  expect(isUnsaved(values, base)).toBe(false);
  expect(errorsOf({})).toEqual({});
});

test("a request has only what changed, in the groups of the API", () => {
  const changed = { ...values, temperature: null, max_steps: 7, metadata: '{"team": "b"}' };
  expect(bodyOf(changesIn(changed, base))).toEqual({
    model_settings: { temperature: null },
    limits: { max_steps: 7 },
    metadata: { team: "b" },
  });
  expect(bodyOf({})).toEqual({});
});

describe("the cost of a run is typed in dollars and sent in micro-dollars", () => {
  test.each([
    ["5", 5_000_000],
    ["0.1", 100_000],
    ["0.29", 290_000],
    ["1.005", 1_005_000],
    ["0.000001", 1],
    ["0", 0],
  ])("%s is %i", (typed, max_cost_micros) => {
    const changed = { ...values, max_cost_micros: typed };
    expect(bodyOf(changesIn(changed, base))).toEqual({ limits: { max_cost_micros } });
    expect(errorsOf({ max_cost_micros: typed })).toEqual({});
    const { max_cost_micros: shown } = valuesOf({ ...base, max_cost_micros });
    expect(Number(shown)).toBe(Number(typed));
  });

  test("an empty field is no limit", () => {
    const limited = { ...base, max_cost_micros: 500_000 };
    expect(valuesOf(limited).max_cost_micros).toBe("0.50");
    expect(changesIn({ ...valuesOf(limited), max_cost_micros: " " }, limited)).toEqual({
      max_cost_micros: null,
    });
    expect(isUnsaved({ ...valuesOf(limited), max_cost_micros: "0.5" }, limited)).toBe(false);
  });

  test("what is no amount is unsaved and not sent", () => {
    const changed = { ...values, max_cost_micros: "0.0000001" };
    expect(changesIn(changed, base)).toEqual({});
    expect(isUnsaved(changed, base)).toBe(true);
  });
});

test("metadata that is only written in another way is no change, and what is no JSON is unsaved", () => {
  expect(changesIn({ ...values, metadata: '{ "team":"a" }' }, base)).toEqual({});
  expect(changesIn({ ...values, metadata: "{" }, base)).toEqual({});
  expect(isUnsaved({ ...values, metadata: "{" }, base)).toBe(true);
});

describe("errors are at their fields", () => {
  test.each([
    ["name", " ", "must not be blank"],
    ["model", "nonsense", "must be provider/model, for example demo/echo"],
    ["temperature", 3, "Use 2 or less."],
    ["max_steps", null, "Fill this in."],
    ["max_concurrent_runs", "1e", "Use a number."],
    ["max_steps", 1.5, "Use a whole number."],
    ["max_steps", "1.000", "Use a whole number. Write it in digits only."],
    ["max_output_tokens", "1,000", "Use a whole number. Write it in digits only."],
    ["max_cost_micros", "1,5", "Use a number of dollars, for example 5 or 0.50."],
    ["max_cost_micros", "0.0000001", "Use at most 6 decimals."],
    ["max_cost_micros", "1000000001", "Use 1,000,000,000 or less."],
    ["metadata", "[]", "must be a JSON object"],
  ])("%s %j: %s", (name, value, message) => {
    expect(errorsOf({ [name]: value })).toEqual({ [name]: message });
  });

  test("a stored tool that the API no longer accepts is an error only if the tools change", () => {
    const tool = (description: string): Tool => ({
      type: "http",
      name: "shop",
      allowed_hosts: ["a.example"],
      operations: [
        {
          name: "read",
          description,
          method: "GET",
          url: "https://a.example",
          query: { page: "{page}" },
          parameters: { type: "object", properties: { page: { type: "integer", default: "1" } } },
        },
      ],
    });
    const stored = { ...base, tools: [tool("Reads")] };
    expect(errorsOf({}, stored)).toEqual({});
    expect(errorsOf({ name: "Shop", tools: [tool("Reads")] }, stored)).toEqual({});
    expect(errorsOf({ tools: [tool("Reads a page")] }, stored)).toEqual({
      tools: expect.stringMatching(/^shop, .*default: must be of the parameter's type/),
    });
  });

  test("the error of a tool names the tool and the field in it", () => {
    const tool: Tool = {
      type: "http",
      name: "shop",
      allowed_hosts: [],
      operations: [{ name: "read", description: "Reads", method: "GET", url: "https://a.example" }],
    };
    expect(errorsOf({ tools: [tool] })).toEqual({
      tools: "shop, allowed_hosts: Add at least one.",
    });
  });
});
