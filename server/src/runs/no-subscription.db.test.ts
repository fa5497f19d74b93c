import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { appendRow, seedAgent, seedProcess, startRow, succeeded } from "../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../test/write-runs.ts";
import { newId } from "../base/ids.ts";
import { KnownSubscriptions } from "../events/index.ts";

// No server runs in this file's process, because its statements would be counted too.
const { database } = await testDatabase();
const owner = await seedProcess(database);
const agent = await seedAgent(database);

test("while there is no subscription, starts and appends contain no SQL of deliveries", async () => {
  const subscriptions = new KnownSubscriptions();
  const row = startRow(agent, { owner });
  const executed = await executedStatements(async () => {
    await startRuns(database, [row], { subscriptions });
    const run = { runId: row.runId, workspaceId: agent.workspaceId } as never;
    const end = appendRow(run, owner, {
      entries: [{ id: newId("evt"), type: "run.finished", data: "{}", artifact: undefined }],
      transition: succeeded,
    });
    expect(await appendToRuns(database, [end], { subscriptions })).toMatchObject([
      { kind: "written" },
    ]);
  });
  expect(executed.filter((text) => /insert into events/.test(text))).toHaveLength(2);
  expect(executed.filter((text) => /insert into deliveries/.test(text))).toEqual([]);
  expect(subscriptions.some).toBe(false);
});
