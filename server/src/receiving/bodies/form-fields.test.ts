import assert from "node:assert";
import fc from "fast-check";
import { expect, test } from "vitest";
import { urlEncodedFields } from "./form-fields.ts";

test("a form is read as URLSearchParams reads it", () => {
  const texts = fc
    .array(fc.constantFrom("a", "bc", "=", "&", "?", "%", "%20", "%ff", "+", "é", "__proto__"))
    .map((parts) => parts.join(""))
    .filter((text) => text.includes("="));
  fc.assert(
    fc.property(texts, (text) => {
      const expected = new URLSearchParams(text);
      const fields = urlEncodedFields(text, Number.POSITIVE_INFINITY);
      assert(fields !== undefined);
      expect(Object.keys(fields).sort()).toEqual([...new Set(expected.keys())].sort());
      for (const [name, value] of Object.entries(fields))
        expect([value].flat()).toEqual(expected.getAll(name));
    }),
  );
});

test("many fields without a value are read in linear time", { timeout: 20_000 }, () => {
  // If the time grew with the square of the number of fields, this would take a minute.
  const text = `${"a&".repeat(2 ** 21)}b=1`;
  const fields = urlEncodedFields(text, Number.POSITIVE_INFINITY);
  expect(fields?.b).toBe("1");
  expect(fields?.a).toHaveLength(2 ** 21);
});
