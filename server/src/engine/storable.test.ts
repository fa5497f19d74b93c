import fc from "fast-check";
import { expect, it } from "vitest";
import { storableJson, storableJsonText, storableText, unstorableIn } from "./storable.ts";
import { fitResult } from "./tool-call/fit-result.ts";

const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
});

it("makes any text storable, and returns storable text unchanged", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const storable = storableText(text);
      expect(storable.isWellFormed() && !storable.includes("\u0000")).toBe(true);
      expect(storable).toHaveLength(text.length);
      expect(storableText(storable)).toBe(storable);
    }),
  );
});

it("makes every text inside a value storable, keys included, and changes nothing else", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({
        stringUnit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      }),
      (value) => {
        expect(JSON.stringify(storableJson(value))).not.toMatch(
          /(?<!\\)(?:\\\\)*\\u(0000|d[89a-f])/,
        );
      },
    ),
  );
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
      expect(storableJson(value)).toEqual(value);
    }),
  );
  expect(storableJson(JSON.parse('{"__proto__":{"a":"\\u0000"}}'))).toEqual(
    JSON.parse('{"__proto__":{"a":"\\ufffd"}}'),
  );
});

it("returns a value without such text as the same object", () => {
  const value = { text: "\\u0000 written out", emoji: "😀" };
  expect(storableJson(value)).toEqual(value);
  const plain = { a: [1, "two"] };
  expect(storableJson(plain)).toBe(plain);
});

const anyValue = fc.jsonValue({
  stringUnit: fc.constantFrom("a", "\\", '"', "\u0000", "\ud83d", "\ude00", "😀"),
});

it("keeps the value of a JSON text, whether NUL and surrogates are escaped or not", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const escaped = JSON.stringify(value);
      const raw = escaped.replace(/\\\\|\\u(0000|d[89a-f]..)/g, (part, code) =>
        code ? String.fromCharCode(Number.parseInt(code, 16)) : part,
      );
      for (const text of [escaped, raw]) {
        const stored = storableJsonText(text);
        expect(storableText(stored)).toBe(stored);
        // The result is not compared with `value` itself, which can contain -0: `JSON.stringify`
        // writes -0 as 0.
        expect(JSON.parse(stored)).toEqual(JSON.parse(escaped));
      }
    }),
  );
});

it.each(["\\\u0000", "\\\ud83d"])("leaves invalid JSON invalid (%j)", (part) => {
  const stored = storableJsonText(`"${part}"`);
  expect(() => JSON.parse(stored)).toThrow(SyntaxError);
  expect(storableText(stored)).toBe(stored);
});

it("returns the location of a text that cannot be stored, exactly if there is one", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(unstorableIn(value) === undefined).toBe(storableJson(value) === value);
    }),
  );
  expect(unstorableIn("\u0000")).toBe("the value");
  expect(unstorableIn({ a: [{ b: 1 }, { "c d": "\ud83d" }] })).toBe("a[1].c d");
  expect(unstorableIn([["\u0000"]])).toBe("[0][0]");
});

it("converts a tool's result to JSON, and truncates a large one between characters", () => {
  expect(fitResult(undefined)).toBeNull();
  expect(fitResult({ when: new Date(0), gone: undefined, not: Number.NaN })).toEqual({
    when: "1970-01-01T00:00:00.000Z",
    not: null,
  });
  expect(() => fitResult(1n)).toThrow("not JSON");
  const truncated = fitResult(`x${"😀".repeat(100_000)}`);
  expect(truncated).toMatch(
    /😀\n\[truncated: the result has 400001 bytes; these are the first 262144\]$/,
  );
  expect(truncated).not.toContain("\uFFFD");
});
