import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { curlOf, inputOf, payloadLineOf, payloadProblem } from "./payload.ts";

test("the input is the prefix, a blank line and the payload", () => {
  expect(inputOf("Paid:", "json", '{"order": 4711}')).toBe('Paid:\n\n{"order": 4711}');
});

test("without a prefix or a payload, the input is the other one", () => {
  expect(inputOf("", "text", "Hello")).toBe("Hello");
  expect(inputOf("Paid:", "text", "")).toBe("Paid:");
});

test("a form becomes JSON, and a repeated field a list", () => {
  expect(inputOf("", "form", "a=1&b=x+y&a=2&a=3")).toBe('{"a":["1","2","3"],"b":"x y"}');
});

test.each(["4711", "no form", '{"a": "b=c"}'])("%j, sent as a form, stays as it is", (text) => {
  expect(inputOf("", "form", text)).toBe(text);
});

test("a field named __proto__ is a field", () => {
  expect(inputOf("", "form", "__proto__=1")).toBe('{"__proto__":"1"}');
});

test.each([
  ["json", "{", "", /not JSON/],
  ["text", "", "", /no prompt prefix/],
  ["json", "", "Paid:", undefined],
  ["text", "{", "", undefined],
] as const)("%s %j with the prefix %j: %s", (type, text, prefix, problem) => {
  const said = payloadProblem(type, text, prefix);
  if (problem === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(problem);
});

test.each(["it's", "'; echo stolen '", '$HOME `id` \\ "quoted"', "@/etc/passwd"])(
  "a shell gives curl exactly the payload %j",
  (text) => {
    const shell = curlOf("text", text)
      .replace("curl", "printf '%s\\n'")
      .replace(/"\$BECK\w+"/, "url");
    const given = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).trimEnd().split("\n");
    expect(given.at(-1)).toBe(text);
  },
);

const listed = (input: string, input_bytes = input.length) => ({ input, input_bytes });

test("a received payload is shown without the prefix", () => {
  expect(payloadLineOf(listed("Paid:\n\n{\n  1}"), "Paid:")).toBe("{ 1}");
  expect(payloadLineOf(listed("Hello"), "")).toBe("Hello");
  expect(payloadLineOf(listed("Earlier prefix\n\n1"), "Paid:")).toBe("Earlier prefix 1");
});

test("a payload that the summary does not reach is shown by its size", () => {
  const prefix = "x".repeat(300);
  expect(payloadLineOf(listed("x".repeat(200), 1_326), prefix)).toMatch(/^Payload of 1(\.0)? KiB$/);
});
