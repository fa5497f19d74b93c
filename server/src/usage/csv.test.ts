import type { UsageRow } from "@beckon/contract";
import { expect, test } from "vitest";
import { csvOf } from "./csv.ts";

const row: UsageRow = {
  entries: 1,
  input_tokens: 2,
  output_tokens: 3,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  voice_ms: 0,
  browser_ms: 0,
  cost_micros: null,
  unknown_cost_entries: 1,
  estimated_entries: 0,
};

async function textOf(columns: readonly (keyof UsageRow)[], rows: readonly UsageRow[]) {
  let text = "";
  for await (const part of csvOf(columns, rows)) text += part;
  return text;
}

/** Parses CSV according to RFC 4180. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let isComplete = true;
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g,
  )) {
    const line = rows.at(-1);
    const cell = quoted?.replaceAll('""', '"') ?? plain ?? "";
    if (line === undefined || isComplete) rows.push([cell]);
    else line.push(cell);
    isComplete = end === "\r\n";
  }
  return rows;
}

test("a file has a header and a line for each row; an unknown value is an empty cell", async () => {
  expect(
    await textOf(["model", "tag", "entries", "cost_micros"], [{ ...row, model: "a/b", tag: null }]),
  ).toBe("model,tag,entries,cost_micros\r\na/b,,1,\r\n");
});

test("a file without rows has only a header", async () => {
  expect(await textOf(["day"], [])).toBe("day\r\n");
});

test("a file of many rows has all of them, in order", async () => {
  const rows = Array.from({ length: 1_203 }, (_, index) => ({ ...row, entries: index }));
  const lines = (await textOf(["entries"], rows)).trimEnd().split("\r\n");
  expect(lines).toEqual(["entries", ...rows.map(({ entries }) => String(entries))]);
});

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("http://x","y")'])(
  "a cell cannot be a formula: %j",
  async (text) => {
    const parsed = parse(await textOf(["agent_name", "entries"], [{ ...row, agent_name: text }]));
    expect(parsed).toEqual([
      ["agent_name", "entries"],
      [`'${text}`, "1"],
    ]);
  },
);

test.each([
  "a=b",
  "a-b",
  'say "yes"',
  "a,b",
  "two\r\nlines",
  "two\nlines",
  "Zürich 😀",
  " =1",
  "'",
])("another text is unchanged: %j", async (text) => {
  const parsed = parse(await textOf(["agent_name"], [{ ...row, agent_name: text }]));
  expect(parsed).toEqual([["agent_name"], [text]]);
});
