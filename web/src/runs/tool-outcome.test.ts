import { expect, test } from "vitest";
import { rejectionReason, toolOutcomeOf } from "./tool-outcome.ts";

test("the reason of a rejection is told without the list of tools", () => {
  const reason = 'There is no tool named "shop".';
  expect(rejectionReason(`${reason} Available tools: clock, refund.`)).toBe(reason);
  expect(rejectionReason(`${reason} This agent has no tools.`)).toBe(reason);
  expect(rejectionReason("Something else.")).toBe("Something else.");
  expect(rejectionReason({ error: "no text" })).toBeUndefined();
});

test("an outcome of a later version is shown as it is", () => {
  expect(toolOutcomeOf("constructor")).toEqual({ word: "constructor" });
});
