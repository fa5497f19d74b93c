import { expect, test } from "vitest";
import { newId } from "./ids.ts";

test("an id has its prefix and form, and none is made twice", () => {
  const ids = Array.from({ length: 1_000 }, () => newId("run"));
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) {
    expect(id).toMatch(/^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  }
});

test("an id that is made later sorts after one that is made earlier", async () => {
  const earlier = newId("run");
  const before = Date.now();
  while (Date.now() === before) await new Promise((resolve) => setImmediate(resolve));
  expect(newId("run") > earlier).toBe(true);
});
