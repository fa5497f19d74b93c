import type { AnswerPart } from "@beckon/contract";
import { expect, test } from "vitest";
import { assignCallIds } from "./assign-call-ids.ts";

const call = (call_id: string): AnswerPart => ({
  type: "tool_call",
  call_id,
  tool: "act",
  arguments: "{}",
});
const idsOf = (parts: readonly AnswerPart[]) =>
  parts.map((part) => (part.type === "tool_call" ? part.call_id : undefined));

test("a repeated id gets the next number that is free", () => {
  const parts = ["a", "a-2", "a", "b", "a", "a-2"].map(call);
  expect(idsOf(assignCallIds(parts, 1, ["a-4"]))).toEqual(["a", "a-2", "a-3", "b", "a-5", "a-2-2"]);
});

test("fifty thousand calls with the same id do not block the process", () => {
  // If the search for a free suffix began at 2 for each call, this test would exceed its time
  // limit.
  const ids = idsOf(assignCallIds(Array(50_000).fill(call("a")), 1, []));
  expect(new Set(ids).size).toBe(50_000);
});
