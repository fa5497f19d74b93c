import { expect, test } from "vitest";
import { afterApplied } from "./typed-search.ts";

test("what was typed since a text was sent is kept when the list shows it", () => {
  const before = { text: "refund desk", sent: ["ref", "refund"] };
  const middle = afterApplied(before, "ref");
  expect(middle).toEqual({ text: "refund desk", sent: ["refund"] });
  expect(afterApplied(middle, "refund")).toEqual({ text: "refund desk", sent: [] });
  // If two texts are sent quickly one after the other, the list may show only the second one.
  expect(afterApplied(before, "refund")).toEqual({ text: "refund desk", sent: [] });
});

test("a text that the field has not sent replaces the typed text", () => {
  expect(afterApplied({ text: "refund", sent: ["ref"] }, "")).toEqual({ text: "", sent: [] });
  expect(afterApplied({ text: "refund ", sent: [] }, "refund").text).toBe("refund ");
});
