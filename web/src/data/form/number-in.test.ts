import { expect, test } from "vitest";
import { numberIn, wholeNumberIn } from "./number-in.ts";

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

test.each([
  ["20", 20],
  [" 1000 ", 1_000],
  ["007", 7],
  [7, 7],
  ["", null],
  [" ", null],
  [null, null],
  [undefined, null],
])("%j in a field for a whole number is %j", (value, number) => {
  expect(wholeNumberIn(value)).toBe(number);
});

test.each(["1.000", "1,000", "1 000", "2.5", "1e3", "0x10", "-1", "+1", "9".repeat(400)])(
  "the text %j in a field for a whole number stays as it is",
  (text) => {
    expect(wholeNumberIn(text)).toBe(text);
  },
);
