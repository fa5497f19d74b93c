import { test } from "vitest";
import { addUsage } from "../test/add-usage.ts";
import { startTestBeckon } from "../test/beckon.ts";
import { eventually } from "../test/eventually.ts";
import { seedAgent, seedProcess, startRow } from "../test/tenant.ts";
import { startRuns } from "../test/write-runs.ts";

/** A server that executes no runs, so that runs stay queued. Each of its polls is also a sweep. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" }, { pollsPerSweep: 1 });
const { database } = beckon.db;
const agent = await seedAgent(database);

/** Queues a run, and then sets `columns` of its row. Returns its id. */
async function addRun(columns: string): Promise<string> {
  const row = startRow(agent);
  await startRuns(database, [row]);
  await database.engine.query(`update runs set ${columns} where id = $1`, [row.runId]);
  return row.runId;
}

const awaitStatus = (runId: string, status: string) =>
  eventually(`the status ${status}`, async () => {
    const { rows } = await database.engine.query("select status from runs where id = $1", [runId]);
    return rows[0]?.status === status || undefined;
  });

/** Adds what a sweep ends, deletes and sums up, and waits until one has done so. */
async function awaitSweep(): Promise<void> {
  const runId = await addRun("created_at = now() - interval '24 hours'");
  const process = await seedProcess(database);
  await database.engine.query(
    "update processes set died_at = now() - interval '2 days' where id = $1",
    [process],
  );
  await addUsage(database, agent);
  await awaitStatus(runId, "failed");
  await eventually("the deletion of the dead process", async () => {
    const { rows } = await database.engine.query("select from processes where id = $1", [process]);
    return rows.length === 0 || undefined;
  });
  await eventually("the sums of the usage", async () => {
    const { rows } = await database.engine.query(
      `select (select count(*)::int from usage_entries where workspace_id = $1) -
        (select coalesce(sum(entries), 0)::int from usage_days where workspace_id = $1) as left`,
      [agent.workspaceId],
    );
    return rows[0]?.left === 0 || undefined;
  });
}

test("sweeps also do what has become due since the first one", async () => {
  // The first sweep can do this, because it can be in progress when the server has started.
  await awaitSweep();
  await awaitSweep();
  // Another process may have held this run. A server that has found no held run searches for one
  // only in its sweeps.
  await awaitStatus(await addRun("status = 'waiting'"), "queued");
});
