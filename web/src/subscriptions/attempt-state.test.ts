import { expect, test } from "vitest";
import { attemptState, pollMs } from "./attempt-state.ts";

const now = Date.parse("2026-11-03T12:00:00.000Z");
const inSeconds = (seconds: number) => new Date(now + seconds * 1_000).toISOString();

test("what is attempted soon is read again soon, also an attempt in progress", () => {
  expect(pollMs([null], now)).toBe(false);
  expect(pollMs([], now)).toBe(false);
  expect(pollMs([inSeconds(-3)], now)).toBe(2_000);
  expect(pollMs([inSeconds(45)], now)).toBe(2_000);
  expect(pollMs([inSeconds(179)], now)).toBe(2_000);
  expect(pollMs([inSeconds(300)], now)).toBe(15_000);
  expect(pollMs([inSeconds(300), null, inSeconds(5)], now)).toBe(2_000);
});

test.each([
  ["in 5 minutes has not begun", 300, "scheduled"],
  ["in less than 3 minutes can be in progress", 179, "near"],
  ["in the past can have begun", -3, "due"],
])("an attempt whose time is %s", (_, seconds, state) => {
  expect(attemptState(inSeconds(seconds), now)).toBe(state);
});
