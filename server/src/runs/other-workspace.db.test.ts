import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedProcess, startOne } from "../../test/tenant.ts";
import { newId } from "../base/ids.ts";
import { cancelStored } from "./journal/cancel-statement.ts";
import { readEvents, readJournal, readSomeEvents } from "./journal/journal-store.ts";

/**
 * The statements that this file tests get the id of a run from a request. They use the engine's
 * pool, to which row-level security does not apply. So each statement must itself restrict the
 * workspace, even though its callers check the access too.
 */

const { database } = await testDatabase();
const ours = await seedAgent(database);
const theirs = await seedAgent(database);
const owner = await seedProcess(database);

const cancel = (runId: string, { workspaceId }: { workspaceId: string }) =>
  cancelStored(
    database,
    { runId, workspaceId },
    {
      eventId: newId("evt"),
      message: "Test",
      by: { auditId: newId("aud"), actor: "test", address: undefined },
    },
  );
const stateOf = async (runId: string) =>
  (
    await database.engine.query(
      `select status, last_seq, cancel_requested_at, finished_at,
          (select count(*)::int from events e where e.run_id = r.id) as events,
          (select count(*)::int from audit a where a.target = r.id) as recorded
        from runs r where id = $1`,
      [runId],
    )
  ).rows;

test.each([
  ["queued", {}, "cancelled"],
  ["running", { owner }, "requested"],
] as const)("a %s run is cancelled in its own workspace only", async (_, options, result) => {
  const { runId } = await startOne(database, theirs, options);
  const before = await stateOf(runId);
  expect(await cancel(runId, ours)).toBe("not_found");
  expect(await stateOf(runId)).toEqual(before);
  expect(await cancel(runId, theirs)).toBe(result);
  expect(await stateOf(runId)).not.toEqual(before);
});

test("a journal is read in its own workspace only", async () => {
  const { runId } = await startOne(database, theirs, { owner });
  const read = ({ workspaceId }: { workspaceId: string }) => {
    const run = { runId, workspaceId };
    return Promise.all([
      readEvents(database, run, 0, 10),
      readSomeEvents(database, run, 0),
      readJournal(database, run),
    ]);
  };
  expect(await read(ours)).toEqual([[], [], []]);
  for (const events of await read(theirs)) expect(events).toHaveLength(1);
});
