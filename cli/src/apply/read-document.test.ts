import { expect, test } from "vitest";
import { readDocument } from "./read-document.ts";

const agent = (fields: string) => `beckon: 1\nagents: [{name: A, ${fields}}]`;

test("a pause that is no boolean, and a reason that is no text, are rejected", () => {
  expect(readDocument(agent("paused: true, pause_reason: null"))).toHaveLength(1);
  // YAML 1.2 reads `yes` as a text.
  for (const fields of ["paused: yes", "paused: null", "pause_reason: 1"])
    expect(() => readDocument(agent(fields))).toThrow("must have true or false as `paused`");
});
