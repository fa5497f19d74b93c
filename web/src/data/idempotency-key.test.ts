import { expect, test, vi } from "vitest";
import { keyOfBody, storedIdempotencyKey } from "./idempotency-key.ts";

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

test.each(["", ", also if the storage is full"])(
  "an attempt keeps its key until it is released%s",
  (condition) => {
    const hasCapacity = condition === "";
    const stored = new Map<string, string>();
    vi.stubGlobal("sessionStorage", {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, attempt: string) => {
        if (!hasCapacity) throw new Error("The storage is full.");
        stored.set(name, attempt);
      },
      removeItem: (name: string) => stored.delete(name),
    });
    const keyOf = (user: string, action: string, body = "original") =>
      storedIdempotencyKey(user, action).keyOf(body);
    const key = keyOf("usr_1", "retry.run_1");
    expect([...stored.keys()]).toEqual(hasCapacity ? ["beckon.attempt.usr_1.retry.run_1"] : []);
    expect(keyOf("usr_1", "retry.run_1")).toBe(key);
    expect(keyOf("usr_1", "retry.run_1", "current")).not.toBe(key);
    expect(keyOf("usr_2", "retry.run_1")).not.toBe(key);
    expect(keyOf("usr_1", "retry.run_2")).not.toBe(key);
    storedIdempotencyKey("usr_1", "retry.run_1").release();
    expect(keyOf("usr_1", "retry.run_1")).not.toBe(key);
  },
);
