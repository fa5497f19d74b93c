import { expect, test } from "vitest";
import { rawNumber } from "../../../base/json/index.ts";
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

test("arguments that are an object become text with all digits of their integers", () => {
  const called = { name: "look_up", arguments: { id: rawNumber("9007199254740993") } };
  const message = { tool_calls: [{ id: rawNumber("12345678901234567890"), function: called }] };
  const text = JSON.stringify({ choices: [{ index: 0, message }] });
  expect(JSON.parse(repairAnswer(text) ?? "").choices[0].message.tool_calls).toMatchObject([
    { id: "12345678901234567890", function: { arguments: '{"id":9007199254740993}' } },
  ]);
});

test("thinking without a signature gets an empty one, and a signature stays", () => {
  const content = [
    { type: "thinking", thinking: "hm" },
    { type: "thinking", thinking: "hm", signature: "proof+/=" },
  ];
  const text = JSON.stringify({ type: "message", role: "assistant", content });
  expect(JSON.parse(repairAnswer(text) ?? "").content).toEqual([
    { ...content[0], signature: "" },
    content[1],
  ]);
});

test("an integer beyond 2^53 outside of arguments stays a number", () => {
  const usage = { prompt_tokens: rawNumber("9007199254740993"), completion_tokens: 1 };
  expect(repairAnswer(JSON.stringify({ choices: [], created: usage.prompt_tokens, usage }))).toBe(
    undefined,
  );
});

test.each(["", "\\", "\\\n"])(
  "a long string that ends with %j and no quotation mark is read in linear time",
  (end) => {
    // If the time grew with the square of the number of escapes, this would take minutes.
    expect(repairAnswer(`{"a":NaN,"b":"${'\\"'.repeat(100_000)}${end}`)).toBeUndefined();
  },
);
