import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { type ElementValues, encodeArray } from "./binary-array.ts";

const { database } = await testDatabase();
/** Any text that PostgreSQL can store: no NUL, no lone surrogate. */
const storable = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\0", ""));
const hostile = fc.constantFrom(
  "",
  "NULL",
  "null",
  "{}",
  ",",
  '"',
  "\\",
  '\\"',
  "'; drop table runs; --",
  " \t\r\n",
  "\u2028",
  "{a,b}",
  // Around the length up to which texts are written by a loop.
  `${"x".repeat(47)}ä`,
  "x".repeat(48),
  `${"x".repeat(48)}ä`,
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.oneof(values, fc.constant(null)));

function encoded<Type extends keyof ElementValues>(
  type: Type,
  values: readonly ElementValues[Type][],
): Buffer {
  return encodeArray(type, values, (value) => value);
}

/** Returns the values as PostgreSQL reads and returns them. */
async function back<Type extends keyof ElementValues>(
  type: Type,
  values: readonly ElementValues[Type][],
): Promise<unknown> {
  const { rows } = await database.engine.query<{ values: unknown }>(
    `select $1::${type}[] as values`,
    [encoded(type, values)],
  );
  return rows[0]?.values;
}

test("any text survives a round trip through PostgreSQL", async () => {
  await fc.assert(
    fc.asyncProperty(orNull(fc.oneof(storable, hostile)), async (values) => {
      expect(await back("text", values)).toEqual(values);
    }),
    { numRuns: 200 },
  );
});

test("numbers survive a round trip, up to the largest and the smallest", async () => {
  const ints = [0, -7, 2_147_483_647, -2_147_483_648];
  expect(await back("int", ints)).toEqual(ints);
  await fc.assert(
    fc.asyncProperty(orNull(fc.maxSafeInteger()), async (values) => {
      expect(await back("bigint", values)).toEqual(
        values.map((value) => (value === null ? null : String(value))),
      );
    }),
    { examples: [[[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 32, -1, null]]] },
  );
});

test("booleans, bytes and JSON survive a round trip", async () => {
  expect(await back("boolean", [true, false])).toEqual([true, false]);
  const bytes = [Buffer.alloc(0), Buffer.from([0, 34, 92, 255]), null];
  expect(await back("bytea", bytes)).toEqual(bytes);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ text: storable, list: fc.array(fc.integer()) })),
      async (values) => {
        expect(
          await back(
            "jsonb",
            values.map((value) => JSON.stringify(value)),
          ),
        ).toEqual(values);
      },
    ),
  );
});

test("an empty array is valid", async () => {
  expect(await back("text", [])).toEqual([]);
  expect(await back("int", [])).toEqual([]);
  expect(await back("jsonb", [])).toEqual([]);
});

test("an array larger than the buffer is complete, and a small one after it too", async () => {
  const large = ["ä".repeat(3_000_000), null, "x".repeat(2_000_000)];
  expect(await back("text", large)).toEqual(large);
  expect(await back("text", ["small"])).toEqual(["small"]);
});

test("a number outside the range is rejected before the query is sent", () => {
  expect(() => encoded("int", [1, 2 ** 31])).toThrow(RangeError);
  expect(() => encoded("bigint", [Number.POSITIVE_INFINITY])).toThrow(RangeError);
});
