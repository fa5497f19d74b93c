import assert from "node:assert";
import fc from "fast-check";
import { expect, test } from "vitest";
import { urlEncodedFields } from "./form-fields.ts";

test("a form is read as URLSearchParams reads it, and rejected if this would lose characters", () => {
  const texts = fc
    .array(
      fc.constantFrom("a", "bc", "=", "&", "?", "%", "%20", "%ff", "%c3%a9", "+", "é", "__proto__"),
    )
    .map((parts) => parts.join(""))
    .filter((text) => text.includes("="));
  fc.assert(
    fc.property(texts, (text) => {
      // URLSearchParams damages é if a field also has a % that encodes nothing.
      const expected = new URLSearchParams(text.replaceAll("é", "%c3%a9"));
      const read = () => urlEncodedFields(text, { maxFields: Number.POSITIVE_INFINITY });
      if ([...expected].flat().join("").includes("\ufffd")) {
        expect(read).toThrow("UTF-8");
        return;
      }
      const fields = read();
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
  const fields = urlEncodedFields(text, { maxFields: Number.POSITIVE_INFINITY });
  expect(fields?.b).toBe("1");
  expect(fields?.a).toHaveLength(2 ** 21);
});
