import { expect, test } from "vitest";
import { numberIn } from "./number-in.ts";

test.each([
  ["20", 20],
  [" 0.5 ", 0.5],
  [7, 7],
  ["", null],
  [" ", null],
  [null, null],
  [undefined, null],
])("%j in a field is %j", (value, number) => {
  expect(numberIn(value)).toBe(number);
});

test.each(["1e", "1,5", "ten", "1e999"])(
  "the text %j, which is no number or too large, stays as it is",
  (text) => {
    expect(numberIn(text)).toBe(text);
  },
);
