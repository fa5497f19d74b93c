import { expect, test } from "vitest";
import { parseRetryAfter } from "./parse-retry-after.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["soon", undefined],
  ["-5", undefined],
  ["1.5", undefined],
  ["120", 120_000],
  [" 0 ", 0],
  ["Sun, 22 Nov 2026 16:00:10 GMT", 10_000],
  ["Sun, 22 Nov 2026 15:00:00 GMT", 0],
])("Retry-After %j is %j milliseconds", (header, ms) => {
  expect(parseRetryAfter(header, Date.parse("2026-11-22T16:00:00Z"))).toBe(ms);
});
