import { expect, test } from "vitest";
import { statement } from "./statement.ts";

const sample = statement<{
  ids: readonly string[];
  least: number;
  rows: readonly { name: string; count: number }[];
}>("sample", (p) => {
  const least = p.value("int", (input) => input.least);
  const rows = p.rows("r", (input) => input.rows, {
    name: ["text", (row) => row.name],
    count: ["int", (row) => row.count],
  });
  const ids = p.value("text[]", (input) => input.ids);
  return `select * from ${rows.table} where count > ${least} and name = any (${rows.column("name")}) or name = any (${ids})`;
});

test("parameters are numbered in the order of their use in the text", () => {
  expect(sample.text).toBe(
    "select * from unnest($2::text[], $3::int[]) with ordinality as r (name, count, position) " +
      "where count > $1::int and name = any ($2::text[]) or name = any ($4::text[])",
  );
});

test("values are in the order of their numbers", () => {
  const { values } = sample.query({ ids: ["a"], least: 3, rows: [{ name: "n", count: 1 }] });
  expect([values[0], values[3]]).toEqual([3, ["a"]]);
  expect([values[1], values[2]].every(Buffer.isBuffer)).toBe(true);
});

test("an unknown column of the rows is an error when the statement is created", () => {
  expect(() =>
    statement<readonly string[]>("odd", (p) =>
      p.rows("r", (input) => input, { name: ["text", (row) => row] }).column("nam"),
    ),
  ).toThrow("odd: r has no column nam");
});
