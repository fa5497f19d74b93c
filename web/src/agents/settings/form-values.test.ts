import type { Agent } from "@beckon/client";
import { describe, expect, test } from "vitest";
import { bodyOf, fieldsOf, type Tool } from "./fields.ts";
import {
  changesIn,
  type FormValues,
  isUnsaved,
  settingsResolver,
  valuesOf,
} from "./form-values.ts";

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
  paused: false,
  paused_by: null,
  pause_reason: null,
  created_at: "2026-11-03T10:00:00.000Z",
  updated_at: "2026-11-03T10:00:00.000Z",
};
const base = fieldsOf(agent);
const values = valuesOf(base);

async function errorsOf(changes: Partial<FormValues>): Promise<Record<string, string | undefined>> {
  const { errors } = await settingsResolver({ ...values, ...changes }, undefined, {
    fields: {},
    shouldUseNativeValidation: false,
  });
  return Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, error?.message]));
}

test("a form that was only filled in has no changes and no errors", async () => {
  expect(changesIn(values, base)).toEqual({});
  expect(isUnsaved(values, base)).toBe(false);
  expect(await errorsOf({})).toEqual({});
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
    ["max_steps", 1.5, "Use a whole number."],
    ["metadata", "[]", "must be a JSON object"],
  ])("%s %j: %s", async (name, value, message) => {
    expect(await errorsOf({ [name]: value })).toEqual({ [name]: message });
  });

  test("the error of a tool names the tool and the field in it", async () => {
    const tool: Tool = {
      type: "http",
      name: "shop",
      allowed_hosts: [],
      operations: [{ name: "read", description: "Reads", method: "GET", url: "https://a.example" }],
    };
    expect(await errorsOf({ tools: [tool] })).toEqual({
      tools: "shop, allowed_hosts: Add at least one.",
    });
  });
});
