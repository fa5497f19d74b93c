import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurnCache } from "./turn-cache.ts";

test("a value is made once for each key in a turn of the event loop, and again in the next", async () => {
  const made: string[] = [];
  const cached = createTurnCache<string, number>();
  const get = (key: string) => cached(key, () => made.push(key));
  expect([get("a"), get("b"), await Promise.resolve("a").then(get)]).toEqual([1, 2, 1]);
  await setImmediate();
  expect([get("a"), get("a")]).toEqual([3, 3]);
  expect(made).toEqual(["a", "b", "a"]);
});
