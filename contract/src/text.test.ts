import { expect, test } from "vitest";
import { jsonValue, metadata } from "./text.ts";

/** Returns objects nested `levels` deep. */
function nested(levels: number): unknown {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
}

test.each([
  ["32 levels", nested(32)],
  [
    "every kind of value",
    { text: "日本語 👋", number: 1.5, truth: true, nothing: null, list: [1, "a", {}], object: {} },
  ],
  ["text that looks like an escape", { a: "\\u0000" }],
])("metadata can contain %s, and is returned unchanged", (_what, value) => {
  expect(metadata.parse(value)).toEqual(value);
});

test.each([
  ["33 levels", nested(33)],
  ["100,000 levels", nested(100_000)],
  ["a NUL", { a: ["\0"] }],
  ["a NUL in a name", { a: { "\0": 1 } }],
  ["a lone surrogate", { a: "\ud800" }],
  ["more than 16 KiB", { a: "x".repeat(16_384) }],
  ["a number too large for JSON", { a: Number.POSITIVE_INFINITY }],
])("metadata cannot contain %s", (_what, value) => {
  expect(metadata.safeParse(value).success).toBe(false);
});

test("metadata cannot contain an integer beyond ±2^53, and the error has its path", () => {
  expect(metadata.safeParse({ ids: [2 ** 53 - 1, 1.5] }).success).toBe(true);
  expect(metadata.safeParse({ a: { ids: [1, 2 ** 53] } }).error?.issues).toMatchObject([
    { path: ["a", "ids", 1], message: expect.stringContaining("as text") },
  ]);
});

test.each([[[]], ["text"], [null], [undefined]])("metadata is an object, not %j", (value) => {
  expect(metadata.safeParse(value).success).toBe(false);
});

test("a number that keeps all its digits is no level of a JSON value", () => {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const value = [rawJSON("12345678901234567890")];
  const levels = (count: number) => Array.from({ length: count }).reduce((inner) => [inner], value);
  expect(jsonValue.safeParse(levels(31)).success).toBe(true);
  expect(jsonValue.safeParse(levels(32)).success).toBe(false);
});
