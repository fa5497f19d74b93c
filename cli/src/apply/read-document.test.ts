import { expect, test } from "vitest";
import { readDocument } from "./read-document.ts";

const agent = (fields: string) => `beckon: 1\nagents: [{name: A, ${fields}}]`;

test("a pause that is no boolean, and a reason that is no text, are rejected", () => {
  expect(readDocument(agent("paused: true, pause_reason: null"))).toHaveLength(1);
  // YAML 1.2 reads `yes` as a text.
  for (const fields of ["paused: yes", "paused: null", "pause_reason: 1"])
    expect(() => readDocument(agent(fields))).toThrow("must have true or false as `paused`");
});

test("a name of a trigger that occurs twice within an agent is rejected, and names the agent", () => {
  const triggers = "triggers: [{name: T}, {name: U}, {name: T}]";
  expect(() => readDocument(agent(triggers))).toThrow('Two triggers of "A" have the name "T"');
  const others = `beckon: 1\nagents: [{name: A, triggers: [{name: T}]}, {name: B, triggers: [{name: T}]}]`;
  expect(readDocument(others)).toHaveLength(2);
});
