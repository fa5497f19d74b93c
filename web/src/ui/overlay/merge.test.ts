import { expect, test } from "vitest";
import { isEqual, mergeFields, withField } from "./merge.ts";

const base = { name: "Refund desk", model: "a", tools: [{ name: "x" }], limit: null };

test("changes of different fields are merged without a question", () => {
  const { merged, conflicts } = mergeFields(
    base,
    { ...base, name: "Refunds" },
    { ...base, model: "b" },
  );
  expect(merged).toEqual({ ...base, name: "Refunds", model: "b" });
  expect(conflicts).toEqual([]);
});

test("a field that both changed differently is a conflict and holds theirs until chosen", () => {
  const { merged, conflicts } = mergeFields(
    base,
    { ...base, model: "theirs" },
    { ...base, model: "yours" },
  );
  expect(conflicts).toEqual([{ field: "model", base: "a", theirs: "theirs", yours: "yours" }]);
  expect(merged.model).toBe("theirs");
});

test("the same change by both is no conflict", () => {
  const both = { ...base, tools: [] };
  expect(mergeFields(base, both, { ...both })).toEqual({ merged: both, conflicts: [] });
});

test("fields that only the server has are kept", () => {
  expect(mergeFields({ name: "a" }, { name: "a", version: 3 }, { name: "b" }).merged).toEqual({
    name: "b",
    version: 3,
  });
});

test("the fields of a part are merged one by one, unless one side has no such part", () => {
  const was = { prefix: "", part: { filter: "a", template: null, size: 1 } };
  const theirs = { ...was, part: { filter: "b", template: null, size: 2 } };
  const yours = { part: { filter: "c", template: "t", size: 1 } };
  const { merged, conflicts } = mergeFields(was, theirs, yours, ["part"]);
  expect(conflicts).toEqual([{ field: "part.filter", base: "a", theirs: "b", yours: "c" }]);
  expect(withField(merged, "part.filter", "c")).toEqual({
    prefix: "",
    part: { filter: "c", template: "t", size: 2 },
  });
  const gone = mergeFields(was, { ...was, part: null }, yours, ["part"]);
  expect(gone.conflicts.map(({ field }) => field)).toEqual(["part"]);
});

test("what one side removes from a part is removed, unless the other side has changed it", () => {
  const was = { part: { a: 1, b: 1, c: 1 } };
  const yours = { part: { a: 1, d: 1 } };
  const { merged, conflicts } = mergeFields(was, { part: { b: 1, c: 2 } }, yours, ["part"]);
  expect(conflicts).toEqual([{ field: "part.c", base: 1, theirs: 2, yours: undefined }]);
  expect(merged).toEqual({ part: { c: 2, d: 1 } });
  expect(withField(merged, "part.c", undefined)).toEqual({ part: { d: 1 } });
});

test("values are compared by content, and the order of keys does not count", () => {
  expect(isEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
  expect(isEqual({ a: undefined }, { b: undefined })).toBe(false);
  expect(isEqual([1, 2], [2, 1])).toBe(false);
  expect(isEqual([], {})).toBe(false);
  expect(isEqual(null, {})).toBe(false);
});
