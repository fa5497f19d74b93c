import { expect, test } from "vitest";
import { isJsonObject, parseExactly, rawNumber, withData } from "./index.ts";

test("only integers that a number cannot represent are converted", () => {
  const text = "[9007199254740991,-9007199254740993,1.12345678901234567,1e20,0]";
  expect(parseExactly(text, (digits) => digits)).toEqual([
    9_007_199_254_740_991,
    "-9007199254740993",
    1.1234567890123457,
    1e20,
    0,
  ]);
});

test("an integer is found at every position of a text, between other digits", () => {
  for (let spaces = 0; spaces < 40; spaces++) {
    const text = `{"a":123,"b":0.12345678901234566,${" ".repeat(spaces)}"c":-9007199254740993}`;
    expect(JSON.stringify(parseExactly(text, rawNumber))).toBe(
      '{"a":123,"b":0.12345678901234566,"c":-9007199254740993}',
    );
  }
});

test("an integer that is too large for PostgreSQL is not kept exactly", () => {
  expect(parseExactly(`[${"9".repeat(131_073)}]`, rawNumber)).toEqual([Number.POSITIVE_INFINITY]);
});

test("a raw number keeps its digits in JSON, and is no object", () => {
  const value = parseExactly('{"id":12345678901234567890}', rawNumber);
  expect(JSON.stringify(value)).toBe('{"id":12345678901234567890}');
  expect([isJsonObject(value), isJsonObject(rawNumber("12345678901234567890"))]).toEqual([
    true,
    false,
  ]);
});

test("a record has the object in a text, and keeps only the text, which takes less memory", () => {
  const record = withData({ type: "run.started" }, '{"id":1}');
  expect(JSON.stringify(record)).toBe('{"type":"run.started","data":{"id":1}}');
  expect({ ...record }).toEqual({ type: "run.started", data: { id: 1 } });
  expect(record.data).not.toBe(record.data);
});
