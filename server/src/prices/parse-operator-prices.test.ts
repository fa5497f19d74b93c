import { expect, test } from "vitest";
import { FileMistakes } from "../base/settings-file/index.ts";
import { parseOperatorPrices } from "./parse-operator-prices.ts";

const rates = {
  input_micros_per_million: 2_500_000,
  output_micros_per_million: 10_000_000,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
};

test("reads prices in dollars as micro-dollars, and seconds as billionths of a dollar", () => {
  const { models, ...times } = parseOperatorPrices(`{
    "models": {
      "openai/gpt-5": {"input": 2.5, "output": 10},
      "openai/*": {"input": 0.0375, "output": 1e-6, "cached_input": 0, "cache_write": 2000}
    },
    "voice_second": 0.000013890,
    "browser_second": 1
  }`);
  expect(Object.fromEntries(models)).toEqual({
    "openai/gpt-5": rates,
    "openai/*": {
      input_micros_per_million: 37_500,
      output_micros_per_million: 1,
      cached_input_micros_per_million: 0,
      cache_write_micros_per_million: 2_000_000_000,
    },
  });
  expect(times).toEqual({ voiceNanosPerSecond: 13_890, browserNanosPerSecond: 1_000_000_000 });
});

test("every field can be absent", () => {
  expect(parseOperatorPrices("{}")).toEqual({
    models: new Map(),
    voiceNanosPerSecond: undefined,
    browserNanosPerSecond: undefined,
  });
});

test.each(["openai/gpt-5", "openrouter/meta/llama-3:free", "a/*", "a/b*", "*", "openai-chat/o1"])(
  "%s can have a price",
  (name) => {
    const { models } = parseOperatorPrices(
      JSON.stringify({ models: { [name]: { input: 2.5, output: 10 } } }),
    );
    expect(models).toEqual(new Map([[name, rates]]));
  },
);

function mistakesIn(text: string): string[] {
  try {
    parseOperatorPrices(text);
  } catch (thrown) {
    if (!(thrown instanceof FileMistakes)) throw thrown;
    return thrown.list.map(({ line, column, what }) => `${line}:${column} ${what}`);
  }
  return [];
}

/** A file whose third line is `entry`. */
const withModel = (entry: string) => `{\n  "models": {\n    ${entry}\n  }\n}`;
const noAmount = (what: string, was: string) =>
  `${what} was ${was}. It must be a number of dollars for 1,000,000 tokens, 0 to 2,000, ` +
  "with at most 6 decimals";
const noModel = "is not a model. It must be provider/model; a * at its end stands for any text";

test.each([
  ["", "1:1 the JSON is not valid: the text ends, but a value is missing"],
  [
    '{"models": {},}',
    "1:15 the JSON is not valid: a field's name in double quotes is expected here",
  ],
  ["[]", "1:1 the file must be a JSON object"],
  ["null", "1:1 the file must be a JSON object"],
  ['{"models": []}', "1:2 models must be a JSON object"],
  ['{"models": null}', "1:2 models must be a JSON object"],
  [
    '{"model": {}}',
    '1:2 "model" is not a field of the file. Its fields are models, voice_second, browser_second',
  ],
  [
    '{"openai/gpt-5": {"input": 1, "output": 1}}',
    '1:2 "openai/gpt-5" is not a field of the file. Its fields are models, voice_second, browser_second',
  ],
  [
    '{"voice_second": -1}',
    "1:2 voice_second was -1. It must be a number of dollars for a second, 0 to 1,000, with at most 9 decimals",
  ],
  [
    '{"voice_second": null}',
    "1:2 voice_second was null. It must be a number of dollars for a second, 0 to 1,000, with at most 9 decimals",
  ],
  [
    '{"browser_second": 0.0000000001}',
    "1:2 browser_second was 1e-10. It must be a number of dollars for a second, 0 to 1,000, with at most 9 decimals",
  ],
])("of the file %j it says what is wrong, and where", (text, mistake) => {
  expect(mistakesIn(text)).toEqual([mistake]);
});

test.each([
  ['"gpt-5": {"input": 1, "output": 1}', `3:5 "gpt-5" ${noModel}`],
  ['"OpenAI/gpt-5": {"input": 1, "output": 1}', `3:5 "OpenAI/gpt-5" ${noModel}`],
  ['"openai/": {"input": 1, "output": 1}', `3:5 "openai/" ${noModel}`],
  ['"openai/gpt 5": {"input": 1, "output": 1}', `3:5 "openai/gpt 5" ${noModel}`],
  ['"openai/*-mini": {"input": 1, "output": 1}', `3:5 "openai/*-mini" ${noModel}`],
  ['"open*": {"input": 1, "output": 1}', `3:5 "open*" ${noModel}`],
  ['"*/gpt-5": {"input": 1, "output": 1}', `3:5 "*/gpt-5" ${noModel}`],
  ['"openai/**": {"input": 1, "output": 1}', `3:5 "openai/**" ${noModel}`],
  [
    '"demo/echo": {"input": 1, "output": 1}',
    '3:5 "demo/echo" cannot have a price, because demo/echo always costs 0. Remove it',
  ],
  ['"a/b": 5', '3:5 "a/b" must be a JSON object'],
  ['"a/b": {"output": 1}', '3:5 "a/b" has no input. Add it, in dollars for 1,000,000 tokens'],
  ['"a/b": {"input": 1}', '3:5 "a/b" has no output. Add it, in dollars for 1,000,000 tokens'],
  [
    '"a/b": {"input": 1, "output": 1, "cached": 1}',
    '3:38 "cached" is not a field of "a/b". Its fields are input, output, cached_input, cache_write',
  ],
  ['"a/b": {"input": "1", "output": 1}', `3:13 ${noAmount('input of "a/b"', '"1"')}`],
  ['"a/b": {"input": -1, "output": 1}', `3:13 ${noAmount('input of "a/b"', "-1")}`],
  ['"a/b": {"input": 2000.01, "output": 1}', `3:13 ${noAmount('input of "a/b"', "2000.01")}`],
  ['"a/b": {"input": 1e999, "output": 1}', `3:13 ${noAmount('input of "a/b"', "Infinity")}`],
  ['"a/b": {"input": 1, "output": true}', `3:25 ${noAmount('output of "a/b"', "true")}`],
  ['"a/b": {"input": 1, "output": 0.0000001}', `3:25 ${noAmount('output of "a/b"', "1e-7")}`],
  [
    '"a/b": {"input": 1, "output": 1, "cached_input": null}',
    `3:38 ${noAmount('cached_input of "a/b"', "null")}`,
  ],
  [
    '"a/b": {"input": 1, "output": 1, "cache_write": [1]}',
    `3:38 ${noAmount('cache_write of "a/b"', "[1]")}`,
  ],
])("of the line %s it says what is wrong", (entry, mistake) => {
  expect(mistakesIn(withModel(entry))).toEqual([mistake]);
});

test("a model that is there twice is rejected", () => {
  const entry = '"a/b": {"input": 1, "output": 1}';
  expect(mistakesIn(withModel(`${entry},\n    ${entry}`))).toEqual([
    '4:5 the JSON is not valid: the field "a/b" is there twice',
  ]);
});

test("all mistakes are reported, from top to bottom", () => {
  const text = `{
  "models": {
    "a/b": {"output": -1},
    "c": {}
  },
  "voice_second": "x"
}`;
  expect(mistakesIn(text).map((mistake) => mistake.split(" ")[0])).toEqual([
    "3:5",
    "3:13",
    "4:5",
    "4:5",
    "4:5",
    "6:3",
  ]);
});
