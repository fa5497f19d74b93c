import { expect, test } from "vitest";
import { lowestIdAt, newId } from "./ids.ts";

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

test("the lowest id of a moment stands between the ids made before and from then on", () => {
  const before = Date.now();
  const id = newId("run");
  const after = Date.now();
  expect(lowestIdAt("run", new Date(before)) < id).toBe(true);
  expect(lowestIdAt("run", new Date(after + 1)) > id).toBe(true);
});

test("the lowest id of any moment has the form of an id", () => {
  for (const time of ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2026-01-31T09:30:00Z", "9999-12-31T23:59:59Z"]) {
    expect(lowestIdAt("run", new Date(time))).toMatch(/^run_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  }
});
