import { expect, test } from "vitest";
import { keyOfBody } from "./idempotency-key.ts";

test("another attempt or another body has another key", () => {
  const bodies = ["Hello", "Hellp", ["Hello", 1], ["Hello", 2], { secret: "😀" }, {}];
  const keys = ["a", "b"].flatMap((attempt) => bodies.map((body) => keyOfBody(attempt, body)));
  expect(new Set(keys).size).toBe(keys.length);
});

test("the same attempt and body have the same key, without the body's texts", () => {
  const key = keyOfBody("a", { secret: "s3cret" });
  expect(keyOfBody("a", { secret: "s3cret" })).toBe(key);
  expect(key).toMatch(/^a-[0-9a-f]{1,8}$/);
});
