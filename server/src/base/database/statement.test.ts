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

test("long names stay different in the part that PostgreSQL reads", () => {
  const names = ["a", "b"].map((end) => {
    const { name } = statement<void>(`${"long".repeat(20)}:${end}`, () => "select 1").query();
    return name;
  });
  expect(new Set(names).size).toBe(2);
  expect(names.map(({ length }) => length)).toEqual([63, 63]);
});

test("an unknown column of the rows is an error when the statement is created", () => {
  expect(() =>
    statement<readonly string[]>("odd", (p) =>
      p.rows("r", (input) => input, { name: ["text", (row) => row] }).column("nam"),
    ),
  ).toThrow("odd: r has no column nam");
});

test("many numbers of a row are sent in one array, from which they are picked", () => {
  const packed = statement<readonly { name: string; count: number; cost: number | null }[]>(
    "packed",
    (p) => {
      const rows = p.rowsWithNumbers(
        "r",
        (input) => input,
        { name: ["text", (row) => row.name] },
        { count: (row) => row.count, cost: (row) => row.cost },
      );
      return `select * from ${rows.table} where name = any (${rows.column("name")})`;
    },
  );
  expect(packed.text).toBe(
    "select * from (select r.*, " +
      "nullif(($2::bigint[])[2 * (r.position::int - 1) + 1], -9007199254740991) as count, " +
      "nullif(($2::bigint[])[2 * (r.position::int - 1) + 2], -9007199254740991) as cost " +
      "from unnest($1::text[]) with ordinality as r (name, position)) as r " +
      "where name = any ($1::text[])",
  );
  const { values } = packed.query([{ name: "n", count: 1, cost: null }]);
  expect(values.map(Buffer.isBuffer)).toEqual([true, true]);
});
