import { expect, test } from "vitest";
import { summaryCases } from "../../../contract/test/summary-cases.ts";
import { testDatabase } from "../../test/database.ts";
import { summarize, summarizedData } from "./summary.ts";

const { database } = await testDatabase();

test.each(summaryCases)(
  "the summary of %s is the same in memory and in the database",
  async (_, data, expected) => {
    expect(summarize({ type: "run.step", seq: 1, data })).toEqual({
      type: "run.step",
      seq: 1,
      data: expected,
    });
    const { rows } = await database.engine.query(
      `select ${summarizedData("e.data")} as data from (select $1::jsonb as data) as e`,
      [JSON.stringify(data)],
    );
    expect(rows).toEqual([{ data: expected }]);
  },
);
