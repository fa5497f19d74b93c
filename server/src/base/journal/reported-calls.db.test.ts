import type { NewEvent } from "@beckon/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import {
  areAllReported,
  areReportedAtClaim,
  areReportedAtRelease,
  journalLetters,
} from "./index.ts";

const { database } = await testDatabase();

const reporting: NewEvent = { type: "run.queued", data: { calls_reported: true } };
const resumed: NewEvent = { type: "run.resumed", data: { attempt: 2 } };
const others: readonly NewEvent[] = [
  { type: "run.started", data: {} },
  { type: "run.queued", data: {} },
];
// Few events follow the last other event, so that many journals report all calls.
const journal = fc
  .tuple(
    fc.array(fc.constantFrom(reporting, resumed, ...others), { maxLength: 4 }),
    fc.array(fc.constantFrom([reporting], [resumed], [reporting, resumed]), { maxLength: 3 }),
  )
  .map(([first, last]) => [...first, ...last.flat()]);

test("SQL finds the same journals that report all calls as the engine, after a claim and before it", () =>
  fc.assert(
    fc.asyncProperty(journal, async (entries) => {
      expect(await inSql(entries)).toEqual({
        claimed: areAllReported(entries),
        released: areAllReported([...entries, resumed]) && entries.at(-1) === reporting,
      });
    }),
  ));

test.each([
  ["a claim after a release that reported all calls", [reporting, resumed], true],
  ["two such claims", [reporting, resumed, reporting, resumed], true],
  ["a release without a claim", [reporting], false],
  ["a claim from a lost process, before a release", [resumed, reporting, resumed], false],
])("calls are reported after %s: %s", async (_title, last, isReported) => {
  const entries: NewEvent[] = [{ type: "run.started", data: {} }, ...last];
  expect(areAllReported(entries)).toBe(isReported);
});

async function inSql(entries: readonly NewEvent[]) {
  const { rows } = await database.engine.query<{ claimed: boolean; released: boolean }>(
    `select coalesce(${areReportedAtClaim("letters")}, false) as claimed,
      coalesce(${areReportedAtRelease("letters")}, false) as released
    from (
      select ${journalLetters("e")} as letters
      from jsonb_to_recordset($1) as e (type text, data jsonb, seq int)
    ) as journal`,
    [JSON.stringify(entries.map((entry, seq) => ({ ...entry, seq })))],
  );
  return rows[0];
}
