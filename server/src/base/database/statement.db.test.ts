import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { statement } from "./statement.ts";

const { database } = await testDatabase();

interface Item {
  readonly name: string | null;
  readonly count: number;
  readonly cost: number | null;
}

const list = statement<readonly Item[]>("list", (p) => {
  const items = p.rowsWithNumbers(
    "i",
    (input) => input,
    { name: ["text", (item) => item.name] },
    { count: (item) => item.count, cost: (item) => item.cost },
  );
  return `select i.name, i.count::float8, i.cost::float8, i.position::int from ${items.table}`;
});

test("numbers that are sent in one array arrive in their rows and columns", async () => {
  const items: readonly Item[] = [
    { name: "a", count: 1, cost: null },
    { name: null, count: 0, cost: 2 ** 40 + 1 },
    { name: "c", count: -5, cost: 0 },
    { name: "", count: Number.MAX_SAFE_INTEGER, cost: null },
  ];
  const { rows } = await database.engine.query(list.query(items));
  expect(rows).toEqual(items.map((item, index) => ({ ...item, position: index + 1 })));
  expect((await database.engine.query(list.query([]))).rows).toEqual([]);
});
