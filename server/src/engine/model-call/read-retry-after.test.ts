import { expect, it } from "vitest";
import { readRetryAfter } from "./read-retry-after.ts";
import { retryWait } from "./retry-wait.ts";

const noon = Date.parse("2026-03-01T12:00:00Z");

it.each([
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Sun, 01 Mar 2026 12:00:07 GMT" }, 7_000],
  [{ "retry-after": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
  [{ "retry-after-ms": "150", "retry-after": "1" }, 150],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-3" }, undefined],
  [{}, undefined],
  [undefined, undefined],
])("of %o is %s ms", (headers, milliseconds) => {
  expect(readRetryAfter(headers as Record<string, string> | undefined, noon)).toBe(milliseconds);
});

it("the wait is random up to a maximum that doubles and is capped, and never shorter than requested", () => {
  const policy = { maxAttempts: 9, baseWaitMs: 500, maxWaitMs: 3_000 };
  expect([1, 2, 3, 4, 5].map((attempt) => retryWait(policy, attempt, undefined, () => 1))).toEqual([
    500, 1_000, 2_000, 3_000, 3_000,
  ]);
  expect(retryWait(policy, 3, undefined, () => 0)).toBe(0);
  expect(retryWait(policy, 1, 10_000, () => 0)).toBe(10_000);
});

it("runs that are asked to wait the same time do not all retry at its end", () => {
  const policy = { maxAttempts: 9, baseWaitMs: 500, maxWaitMs: 3_000 };
  expect([0, 0.5, 1].map((random) => retryWait(policy, 1, 20_000, () => random))).toEqual([
    20_000, 20_250, 20_500,
  ]);
});
