import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { seedAgent, startRow } from "../../../test/tenant.ts";
import { startRuns } from "../../../test/write-runs.ts";
import { newId } from "../../base/ids.ts";
import { registerProcess } from "../../processes/index.ts";
import { expireQueued } from "./expire-queued-statement.ts";

const { database } = await testDatabase();
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

test("all runs that have expired are ended, however many they are, and no others", async () => {
  const agent = await seedAgent(database);
  const queue = async (count: number) => {
    const rows = Array.from({ length: count }, () => startRow(agent));
    await startRuns(database, rows);
    return rows.map(({ runId }) => runId);
  };
  const [young] = await queue(1);
  const age = "update runs set created_at = now() - $2::interval, status = $3 where id = any ($1)";
  await database.engine.query(age, [await queue(1_001), "24 hours", "queued"]);
  await database.engine.query(age, [await queue(1_001), "7 days", "waiting"]);

  expect(await expireQueued(database, AbortSignal.abort())).toEqual({ queued: 500, held: 500 });
  expect(await expireQueued(database)).toEqual({ queued: 501, held: 501 });
  const { rows } = await database.engine.query(
    "select id, status from runs where finished_at is null",
  );
  expect(rows).toEqual([{ id: young, status: "queued" }]);
});

test("a run that expired while no server executed runs is ended by the next one, not executed", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await beckon.db.database.engine.query(
    "update runs set created_at = now() - interval '24 hours' where id = $1",
    [body.run_id],
  );
  const server = await beckon.another({ settings: { BECKON_ROLE: "worker" } });
  onTestFinished(() => server.stop());
  const ended = await eventually("the end of the run", async () => {
    const { data } = (await beckon.call(`/runs/${body.run_id}`)).body;
    return data.finished_at === null ? undefined : data;
  });
  expect(ended).toMatchObject({
    status: "failed",
    error: { code: "deadline_exceeded" },
    started_at: null,
  });
});

test("a time without any process counts neither for queued nor for held runs", async () => {
  const { database } = await testDatabase();
  const agent = await seedAgent(database);
  const rows = Array.from({ length: 3 }, () => startRow(agent));
  await startRuns(database, rows);
  await database.engine.query(
    `update runs set created_at = now() - interval '8 days',
        released_at = case when id = $2 then now() - interval '7 days' end,
        status = case when id = $3 then 'waiting' else 'queued' end
      where id = any ($1)`,
    [rows.map(({ runId }) => runId), rows[1]?.runId, rows[2]?.runId],
  );
  const startAfter = async (lastLease: string) => {
    await database.engine.query("update processes set lease_until = now() - $1::interval", [
      lastLease,
    ]);
    await registerProcess(database.engine, newId("prc"), 10);
  };
  await registerProcess(database.engine, newId("prc"), 10);
  await startAfter("7 days");
  expect(await expireQueued(database)).toEqual({ queued: 0, held: 0 });
  await database.engine.query("update installation set running_since = now() - interval '1 day'");
  // The processes were suspended, and none has renewed its lease yet.
  await database.engine.query("update processes set lease_until = now() - interval '1 day'");
  expect(await expireQueued(database)).toEqual({ queued: 0, held: 0 });
  await startAfter("9 minutes");
  expect(await expireQueued(database)).toEqual({ queued: 2, held: 0 });
});
