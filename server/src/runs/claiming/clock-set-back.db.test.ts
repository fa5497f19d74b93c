import { beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { newId } from "../../base/ids.ts";
import { registerProcess } from "../../processes/index.ts";
import { claimAbandoned } from "./abandoned-statement.ts";
import { claimQueued } from "./claim-statement.ts";
import { expireQueued } from "./expire-queued-statement.ts";
import { releaseHeld } from "./release-held-statement.ts";

// The database's clock was a year ahead for a moment. Times that were written then are in the
// future.

const { database } = await testDatabase();
const query = (text: string, values: unknown[] = []) => database.engine.query(text, values);

beforeEach(async () => {
  await query("update runs set status = 'cancelled', finished_at = now()");
  await query("delete from processes");
  await query("update installation set running_since = null");
});

/** Creates a run, and changes its row with SQL. */
async function addRun(changes: string, { owner }: { owner?: string } = {}): Promise<string> {
  const agent = await seedAgent(database);
  const { runId } = await startOne(database, agent, owner === undefined ? {} : { owner });
  await query(`update runs set ${changes} where id = $1`, [runId]);
  return runId;
}

/** Claims one run, and returns the hours that it has used. */
async function elapsedHours(claim: typeof claimQueued): Promise<(number | string)[][]> {
  const owner = await seedProcess(database);
  const { runs } = await claim(database, { owner, eventIds: [newId("evt")] });
  return runs.map(({ runId, elapsedMs }) => [runId, Math.round(elapsedMs / 3_600_000)]);
}

test("queued and held runs expire although Beckon was started while the clock was ahead", async () => {
  await addRun("created_at = now() - interval '25 hours'");
  await addRun("created_at = now() - interval '8 days', status = 'waiting'");
  await seedProcess(database);
  await query("update installation set running_since = now() + interval '1 year'");
  expect(await expireQueued(database)).toEqual({ queued: 1, held: 1 });
});

test("a time without any process does not count although one has exited while the clock was ahead", async () => {
  await addRun("created_at = now() - interval '8 days'");
  const exited = await seedProcess(database);
  const last = await seedProcess(database);
  await query(
    `update processes set lease_until = case when id = $1 then now() + interval '1 year'
      else now() - interval '7 days' end where id in ($1, $2)`,
    [exited, last],
  );
  expect(await expireQueued(database)).toEqual({ queued: 0, held: 0 });
  await registerProcess(database.engine, newId("prc"), 600);
  expect(await expireQueued(database)).toEqual({ queued: 0, held: 0 });
});

test("a run that was released while the clock was ahead, and is held again, is released", async () => {
  const held = "status = 'waiting', fence = 2";
  await addRun(`${held}, released_at = now()`);
  const runId = await addRun(`${held}, released_at = now() + interval '1 year'`);
  expect(await releaseHeld(database)).toBe(1);
  const { rows } = await query("select id from runs where status = 'queued'");
  expect(rows).toEqual([{ id: runId }]);
});

test("a run that was released while the clock was ahead has used no time since", async () => {
  const runId = await addRun(
    "started_at = now() - interval '10 hours', released_at = now() + interval '1 year'",
  );
  expect(await elapsedHours(claimQueued)).toEqual([[runId, 10]]);
});

test("a run whose process exited while the clock was ahead has used no time since", async () => {
  const owner = await seedProcess(database);
  const runId = await addRun("started_at = now() - interval '10 hours'", { owner });
  await query(
    `update processes set died_at = now() + interval '1 year',
      lease_until = now() + interval '1 year' where id = $1`,
    [owner],
  );
  expect(await elapsedHours(claimAbandoned)).toEqual([[runId, 10]]);
});
