import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { FileMistakes } from "../../base/settings-file/index.ts";
import { parseOperatorPlans, readOperatorPlans } from "./operator-plans.ts";

/** Returns the mistakes in a file as `line:column message`. */
function mistakesIn(text: string): string[] {
  try {
    parseOperatorPlans(text);
  } catch (thrown) {
    if (!(thrown instanceof FileMistakes)) throw thrown;
    return thrown.list.map(({ line, column, what }) => `${line}:${column} ${what}`);
  }
  return [];
}

test("a plan has allowances in tokens, seconds and dollars; what is absent or null is unlimited", () => {
  const text = `{"plans": {
    "team": {"tokens": 50000000, "voice_seconds": 3600.5, "browser_seconds": null, "cost": 99.999999},
    "free": {"tokens": 0},
    "all": {}
  }}`;
  expect([...parseOperatorPlans(text)]).toEqual([
    [
      "team",
      { tokens: 50_000_000, voice_ms: 3_600_500, browser_ms: null, cost_micros: 99_999_999 },
    ],
    ["free", { tokens: 0, voice_ms: null, browser_ms: null, cost_micros: null }],
    ["all", { tokens: null, voice_ms: null, browser_ms: null, cost_micros: null }],
  ]);
});

test("an empty object has no plans", () => {
  expect(parseOperatorPlans("{}").size).toBe(0);
});

test("every mistake is listed with its line and column", () => {
  const text = `{
  "plans": {
    "Team": {"token": 1},
    "unlimited": {},
    "a": {"tokens": 1.5, "cost": -1},
    "b": 5
  },
  "plan": {}
}`;
  expect(mistakesIn(text)).toEqual([
    '3:5 "Team" is not a name of a plan. It must be 1 to 63 of a-z 0-9 . _ - and begin with a letter or digit',
    '3:14 "token" is not a field of "Team". Its fields are tokens, voice_seconds, browser_seconds, cost',
    '4:5 "unlimited" is the built-in plan. Choose another name',
    '5:11 tokens of "a" was 1.5. It must be a number of tokens, 0 to 1,000,000,000,000,000, a whole number, or null for unlimited',
    '5:26 cost of "a" was -1. It must be a number of dollars, 0 to 1,000,000,000, with at most 6 decimals, or null for unlimited',
    '6:5 "b" must be a JSON object',
    '8:3 "plan" is not a field of the file. Its fields are plans',
  ]);
});

test.each([
  ["", "1:1 the JSON is not valid: the text ends, but a value is missing"],
  ['{"plans": []}', "1:2 plans must be a JSON object"],
  ["[]", "1:1 the file must be a JSON object"],
  ['{"plans": {"a": {}, "a": {}}}', '1:21 the JSON is not valid: the field "a" is there twice'],
  [
    '{"plans": {"a": {"cost": 1e999}}}',
    '1:18 cost of "a" was Infinity. It must be a number of dollars, 0 to 1,000,000,000, with at most 6 decimals, or null for unlimited',
  ],
  [
    '{"plans": {"a": {"voice_seconds": 0.0001}}}',
    '1:18 voice_seconds of "a" was 0.0001. It must be a number of seconds, 0 to 1,000,000,000,000, with at most 3 decimals, or null for unlimited',
  ],
])("%s is rejected", (text, mistake) => {
  expect(mistakesIn(text)).toEqual([mistake]);
});

test("at most 200 plans are allowed", () => {
  const of = (count: number) =>
    JSON.stringify({
      plans: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])),
    });
  expect(parseOperatorPlans(of(200)).size).toBe(200);
  expect(mistakesIn(of(201))).toEqual(["1:2 there are 201 plans, and at most 200 are allowed"]);
});

test("every amount of dollars with six decimals is read exactly", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (micros) => {
      const digits = String(micros).padStart(7, "0");
      const dollars = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
      const plans = parseOperatorPlans(`{"plans": {"a": {"cost": ${dollars}}}}`);
      expect(plans.get("a")?.cost_micros).toBe(micros);
    }),
  );
});

const folder = await mkdtemp(join(tmpdir(), "beckon-plans-"));
afterAll(() => rm(folder, { recursive: true }));

test("without a file the operator has no plans", async () => {
  expect((await readOperatorPlans(undefined)).size).toBe(0);
});

test("the error of an invalid file names the setting, the path and the mistake", async () => {
  const path = join(folder, "plans.json");
  await writeFile(path, '{"plans": {"a": 1}}');
  await expect(readOperatorPlans(path)).rejects.toThrow(
    `BECKON_PLANS names ${path}, which is not valid. Correct it and start again.\n` +
      'line 1, column 12: "a" must be a JSON object.',
  );
  await expect(readOperatorPlans(join(folder, "missing.json"))).rejects.toThrow(
    /^BECKON_PLANS names .*missing\.json, which cannot be read: ENOENT/,
  );
});
