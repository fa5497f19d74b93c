import { expect, test } from "vitest";
import { ShortLivedMap } from "./short-lived-map.ts";

test("a value is found until it is deleted", () => {
  const map = new ShortLivedMap<string>();
  map.set("a", "one");
  expect([map.get("a"), map.has("a"), map.size]).toEqual(["one", true, 1]);
  map.delete("a");
  map.delete("never there");
  expect([map.get("a"), map.has("a"), map.size]).toEqual([undefined, false, 0]);
});

test("a key that is set again has only the new value", () => {
  const map = new ShortLivedMap<string>();
  map.set("a", "one");
  map.set("a", "two");
  expect([map.get("a"), map.size, [...map.values()]]).toEqual(["two", 1, ["two"]]);
});

test("a value that is deleted during an iteration is skipped", () => {
  const map = new ShortLivedMap<string>();
  for (const key of ["a", "b", "c"]) map.set(key, key);
  const seen: string[] = [];
  for (const value of map.values()) {
    seen.push(value);
    map.delete("b");
  }
  expect(seen).toEqual(["a", "c"]);
});
