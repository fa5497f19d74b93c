import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { arrayLiteral } from "./array-literal.ts";

const { database } = await testDatabase();
/** Whatever PostgreSQL can store as text: no NUL, no lone surrogate. */
const storable = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", ""));
const hostile = fc.constantFrom("", "NULL", "null", "{}", ",", '"', "\\", '\\"', "'; drop table runs; --", " \t\r\n", "\u2028", "{a,b}");

async function back(type: string, values: readonly (string | number | boolean | Buffer | null)[]): Promise<unknown> {
  const { rows } = await database.engine.query<{ values: unknown }>(`select $1::${type}[] as values`, [arrayLiteral(values)]);
  return rows[0]?.values;
}

test("text comes back from PostgreSQL as it was, whatever it holds", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(storable, hostile, fc.constant(null))), async (values) => {
      expect(await back("text", values)).toEqual(values);
    }),
    { numRuns: 200 },
  );
});

test("numbers, truth values and bytes come back as they were, null among them", async () => {
  expect(await back("int", [0, -7, 2_147_483_647, null])).toEqual([0, -7, 2_147_483_647, null]);
  expect(await back("boolean", [true, false, null])).toEqual([true, false, null]);
  const bytes = [Buffer.alloc(0), Buffer.from([0, 34, 92, 255]), null];
  expect(await back("bytea", bytes)).toEqual(bytes);
});
