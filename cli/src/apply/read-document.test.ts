import { expect, test } from "vitest";
import { UsageError } from "../terminal.ts";
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

test.each([
  ["a number that JSON does not have", "metadata: {a: .nan}", ".nan or .inf"],
  ["an infinite number", "metadata: {a: -.inf}", ".nan or .inf"],
  ["a number above the range", "metadata: {a: 1e999}", ".nan or .inf"],
  ["an alias inside itself", "metadata: &x {a: *x}", "an alias (*…) inside itself"],
  ["too many levels", `metadata: ${"[".repeat(2_000)}${"]".repeat(2_000)}`, "nested too deeply"],
  [
    "aliases that multiply",
    `a: &a [${"x,".repeat(5)}], b: &b [${"*a,".repeat(40)}], c: &c [${"*b,".repeat(40)}], d: [${"*c,".repeat(40)}]`,
    "too many aliases",
  ],
])("%s is rejected with its reason", (_, fields, reason) => {
  const read = () => readDocument(agent(fields));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(reason);
});
