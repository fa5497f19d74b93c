import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { timeText } from "./index.ts";

const { database } = await testDatabase();

test.each([
  "2026-11-27 00:00:00+00",
  "2026-11-27 23:59:59.9999+00",
  "2026-02-28 23:30:00.000999-01",
  "1999-12-31 12:00:00.5+05:30",
])("the text of %s equals that of the Date that pg reads", async (time) => {
  const { rows } = await database.engine.query<{ date: Date; text: string }>(
    `select t as date, ${timeText("t")} as text from (select $1::timestamptz as t) as one`,
    [time],
  );
  expect(rows[0]?.text).toBe(rows[0]?.date.toISOString());
});
