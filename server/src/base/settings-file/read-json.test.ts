import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonMistake, readJson } from "./read-json.ts";

test("reads what JSON.parse reads", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2), (json, indent) => {
      const value = JSON.parse(json);
      expect(readJson(JSON.stringify(value, null, indent)).value).toEqual(value);
    }),
  );
});

test("reports the positions of fields and items by JSON pointer", () => {
  const { positions } = readJson('{\n  "a/b": [1,\n    {"~": null}]\n}');
  expect(Object.fromEntries(positions)).toEqual({
    "": { line: 1, column: 1 },
    "/a~1b": { line: 2, column: 3 },
    "/a~1b/0": { line: 2, column: 11 },
    "/a~1b/1": { line: 3, column: 5 },
    "/a~1b/1/~0": { line: 3, column: 6 },
  });
});

test.each(["", "\n"])("reads a list of 1 MiB with items separated by %j", (separator) => {
  const count = Math.floor(2 ** 20 / (2 + separator.length));
  const { positions } = readJson(`[${Array(count).fill("0").join(`,${separator}`)}]`);
  expect(positions.get(`/${count - 1}`)).toEqual(
    separator === "" ? { line: 1, column: 2 * count } : { line: count, column: 1 },
  );
});

test.each([
  ["", 1, 1, "the text ends, but a value is missing"],
  ["  \n ", 2, 2, "the text ends, but a value is missing"],
  ["{", 1, 2, "the text ends, but a field's name in double quotes is missing"],
  ['{"a"', 1, 5, "the text ends, but a colon is missing"],
  ['{"a":', 1, 6, "the text ends, but a value is missing"],
  ['{"a": 1', 1, 8, "the text ends, but a comma or } is missing"],
  ["[1", 1, 3, "the text ends, but a comma or ] is missing"],
  ['{"a": 1,}', 1, 9, "a field's name in double quotes is expected here"],
  ["{a: 1}", 1, 2, "a field's name in double quotes is expected here"],
  ["{'a': 1}", 1, 2, "a field's name in double quotes is expected here"],
  ['{"a" 1}', 1, 6, "a colon is expected here"],
  ['{"a": 1 "b": 2}', 1, 9, "a comma or } is expected here"],
  ['{"a": .5}', 1, 7, "a value is expected here"],
  ['{"a": 01}', 1, 8, "a comma or } is expected here"],
  ['{"a": 1,5}', 1, 9, "a field's name in double quotes is expected here"],
  ['{"a": 1}\n// comment', 2, 1, "the end is expected here"],
  ['{\n  "a": 1,\n  "a": 2}', 3, 3, 'the field "a" is there twice'],
  ['{"a": "x\ny"}', 1, 7, "this text has a line break or an invalid escape sequence"],
  [String.raw`{"a": "\x"}`, 1, 7, "this text has a line break or an invalid escape sequence"],
  ['{"a": "x}', 1, 7, "a value is expected here"],
  ["[".repeat(30), 1, 21, "the nesting is deeper than 20 levels"],
])("rejects %j at line %i, column %i", (text, line, column, message) => {
  const read = () => readJson(text);
  expect(read).toThrow(JsonMistake);
  expect(read).toThrow(expect.objectContaining({ position: { line, column }, message }));
});
