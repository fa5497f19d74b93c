import { expect, test } from "vitest";
import { repairAnswer } from "./repair-answer.ts";

test("NaN and Infinity are replaced outside of strings only", () => {
  const text = String.raw`{"a":NaN,"NaN":"\" NaN \\","b":[-Infinity,Infinity],"c":"-Infinity"}`;
  expect(JSON.parse(repairAnswer(text) ?? "")).toEqual({
    a: null,
    NaN: '" NaN \\',
    b: [null, null],
    c: "-Infinity",
  });
});

test.each(["", "\\", "\\\n"])(
  "a long string that ends with %j and no quotation mark is read in linear time",
  (end) => {
    // If the time grew with the square of the number of escapes, this would take minutes.
    expect(repairAnswer(`{"a":NaN,"b":"${'\\"'.repeat(100_000)}${end}`)).toBeUndefined();
  },
);
