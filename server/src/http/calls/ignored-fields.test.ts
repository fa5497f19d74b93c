import { expect, test } from "vitest";
import { ignoredFields } from "./ignored-fields.ts";

const namesOf = (body: unknown) => ignoredFields(body, ["input"]);

test.each([
  ["no other field", { input: "Hello" }, undefined],
  ["a misspelt field", { inputs: "Hello" }, "inputs"],
  ["several fields, in their order", { stream: true, input: "", model: 1 }, "stream, model"],
  ["a name with a comma and a space", { "a, b": 1 }, "a%2C%20b"],
  ["a name with a line break", { "a\r\nset-cookie: b": 1 }, "a%0D%0Aset-cookie%3A%20b"],
  ["a name outside of ASCII", { größe: 1 }, "gr%C3%B6%C3%9Fe"],
  ["a lone surrogate", { "\ud800": 1 }, "%EF%BF%BD"],
  ["an empty name", { "": 1 }, '""'],
  ["the name __proto__", JSON.parse('{"__proto__": 1}'), "__proto__"],
  ["a list", ["a"], undefined],
  ["null", null, undefined],
])("of %s", (_what, body, header) => {
  expect(namesOf(body)).toBe(header);
});

test("at most ten names are given", () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, 1]));
  expect(namesOf(many)).toBe("f0, f1, f2, f3, f4, f5, f6, f7, f8, f9");
});

test("names that would make the header longer than 512 bytes are left out", () => {
  const long = "x".repeat(500);
  expect(namesOf({ [long]: 1, [`${long}2`]: 1, short: 1, ["ä".repeat(100)]: 1 })).toBe(
    `${long}, short`,
  );
  expect(namesOf({ ["x".repeat(513)]: 1 })).toBeUndefined();
  expect(namesOf({ ["x".repeat(512)]: 1 })).toHaveLength(512);
});
