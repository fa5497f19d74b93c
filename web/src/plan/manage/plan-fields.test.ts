import type { Plan } from "@beckon/client";
import { expect, test } from "vitest";
import { fieldsOf, readFields } from "./plan-fields.ts";

const plan: Plan = {
  id: "pln_1",
  name: "team",
  origin: "api",
  tokens: 50_000_000,
  voice_ms: 3_600_500,
  browser_ms: null,
  cost_micros: 100_500_000,
  created_at: null,
  updated_at: null,
};

test("a plan is read as it is shown", () => {
  expect(fieldsOf(plan)).toEqual({
    name: "team",
    tokens: "50000000",
    voiceSeconds: "3600.5",
    browserSeconds: "",
    dollars: "100.50",
  });
  const { tokens, voice_ms, browser_ms, cost_micros } = plan;
  expect(readFields(fieldsOf(plan))).toEqual({
    allowances: { tokens, voice_ms, browser_ms, cost_micros },
  });
});

test("an empty form is a plan without limits that lacks a name", () => {
  expect(readFields({ ...fieldsOf(undefined), name: "a" })).toEqual({
    allowances: { tokens: null, voice_ms: null, browser_ms: null, cost_micros: null },
  });
  expect(readFields(fieldsOf(undefined))).toEqual({ errors: { name: expect.any(String) } });
});

test.each([
  ["name", "Team"],
  ["tokens", "1.5"],
  ["tokens", "1e6"],
  ["voiceSeconds", "-1"],
  ["voiceSeconds", "1.0005"],
  ["browserSeconds", "9999999999999999"],
  ["dollars", "many"],
])("%s %j is marked", (field, text) => {
  const read = readFields({ ...fieldsOf(plan), [field]: text });
  expect(read).toEqual({ errors: { [field]: expect.any(String) } });
});
