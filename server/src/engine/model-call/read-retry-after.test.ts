import { expect, it } from "vitest";
import { readRetryAfter, readRetryDelay } from "./read-retry-after.ts";
import { retryWait } from "./retries.ts";

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

it.each([
  [
    { details: [{ "@type": "x" }, { "@type": "google.rpc.RetryInfo", retryDelay: "34.5s" }] },
    34_500,
  ],
  // OpenRouter.
  [{ code: 429, metadata: { raw: "busy", retry_after_seconds: 17 } }, 17_000],
  [{ code: 429, metadata: { retry_after_seconds: 0 } }, 0],
  [{ code: 429, metadata: { retry_after_seconds: -1 } }, undefined],
  [{ code: 429, metadata: { retry_after_seconds: "soon" } }, undefined],
  ["busy", undefined],
])("of the error %o in a body is %s ms", (error, milliseconds) => {
  expect(readRetryDelay({ error })).toBe(milliseconds);
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
