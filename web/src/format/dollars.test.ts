import fc from "fast-check";
import { expect, test } from "vitest";
import { readDollars, writeDollars } from "./dollars.ts";

test.each([
  ["5", 5_000_000],
  [" 0.5 ", 500_000],
  ["0.000001", 1],
  ["0", 0],
  ["1000000000", 1e15],
  ["1204.50", 1_204_500_000],
])("%j is read as %i micro-dollars", (text, micros) => {
  expect(readDollars(text)).toEqual({ micros });
});

test.each([
  ["", /Fill this in/],
  ["-1", /number of dollars/],
  ["1e3", /number of dollars/],
  ["$5", /number of dollars/],
  ["1,5", /number of dollars/],
  ["0.0000001", /at most 6 decimals/],
  ["1000000000.000001", /1,000,000,000 or less/],
])("%j is not an amount", (text, error) => {
  expect(readDollars(text).error).toMatch(error);
});

test("every amount is read as it is written", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e15 }), (micros) => {
      expect(readDollars(writeDollars(micros))).toEqual({ micros });
    }),
  );
});

test("amounts are written without needless zeros", () => {
  expect([5_000_000, 500_000, 1, 0].map(writeDollars)).toEqual(["5", "0.50", "0.000001", "0"]);
});
