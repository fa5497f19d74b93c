import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FixedWindowCounter } from "./fixed-window.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("counts of a key add up until its window ends and do not extend it", () => {
  const counter = new FixedWindowCounter({ windowMs: 1_000, maxKeys: 10 });
  const { endsAt } = counter.add("a");
  vi.advanceTimersByTime(999);
  expect(counter.add("a")).toEqual({ count: 2, endsAt });
  expect(counter.get("b")).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(counter.get("a")).toBeUndefined();
  expect(counter.add("a")).toEqual({ count: 1, endsAt: endsAt + 1_000 });
});

test("above the maximum, the least recently used key is dropped", () => {
  const counter = new FixedWindowCounter({ windowMs: 1_000, maxKeys: 2 });
  for (const key of ["a", "b", "a", "c"]) counter.add(key);
  expect(["a", "b", "c"].map((key) => counter.get(key)?.count)).toEqual([2, undefined, 1]);
});
