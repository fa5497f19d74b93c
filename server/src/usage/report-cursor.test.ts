import { expect, test } from "vitest";
import { readCursor, toCursor } from "./report-cursor.ts";

const query = { workspace: "wsp_1", group_by: ["model"] };
const position = {
  from: "2026-06-01",
  to: "2026-06-30",
  keys: ["ollama/größe.4:😀", ""],
} as const;
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const partsOf = (cursor: string) =>
  JSON.parse(Buffer.from(cursor, "base64url").toString()) as string[];

test("a cursor contains its position, also the default range of the first page", () => {
  expect(readCursor(toCursor(position, query), query)).toEqual(position);
});

test("a cursor of a row with the longest keys is accepted as a parameter", () => {
  const keys = ["😀".repeat(150), "😀".repeat(50)] as const;
  expect(toCursor({ ...position, keys }, query).length).toBeLessThan(4_000);
});

test("a cursor of another query is rejected", () => {
  const cursor = toCursor(position, query);
  for (const other of [
    { ...query, workspace: "wsp_2" },
    { ...query, tag: "a" },
  ])
    expect(() => readCursor(cursor, other)).toThrow(/is not a cursor of this report/);
});

test.each<[string, (parts: string[]) => unknown]>([
  ["another array", (parts) => parts.slice(1)],
  ["an object", () => ({})],
  ["more keys", (parts) => [...parts, ""]],
  ["a number as key", (parts) => [...parts.slice(0, 4), 1]],
  ["NUL in a key", (parts) => [...parts.slice(0, 4), "\0"]],
  ["half a surrogate pair in a key", (parts) => [...parts.slice(0, 4), "\ud800"]],
  ["no date", (parts) => [parts[0], "soon", ...parts.slice(2)]],
  ["a year that PostgreSQL does not have", (parts) => [parts[0], "0000-01-01", ...parts.slice(2)]],
])("a cursor with %s is rejected", (_, change) => {
  const cursor = encoded(change(partsOf(toCursor(position, query))));
  expect(() => readCursor(cursor, query)).toThrow(/is not a cursor of this report/);
});

test.each(["", "x", "%", "bnVsbA", "c29tZWN1cnNvcg"])("the text %j is not a cursor", (text) => {
  expect(() => readCursor(text, query)).toThrow(/is not a cursor of this report/);
});
