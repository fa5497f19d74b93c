import { expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { seedAgent, seedProcess, startOne } from "../test/tenant.ts";
import { markRestored } from "./events/index.ts";

/** Executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { database } = beckon.db;

test("a backup with a time zone that is unknown here is restored, and its runs are ended", async () => {
  const agent = await seedAgent(database);
  const { runId } = await startOne(database, agent, { owner: await seedProcess(database) });
  await database.engine.query("update workspaces set time_zone = 'Mars/Olympus' where id = $1", [
    agent.workspaceId,
  ]);
  await markRestored(database.engine);
  const restored = await beckon.another({ settings: { BECKON_ROLE: "api" } });
  await restored.stop();
  const { rows } = await database.engine.query(
    `select r.status, w.time_zone from runs r join workspaces w on w.id = r.workspace_id
      where r.id = $1`,
    [runId],
  );
  expect(rows).toEqual([{ status: "failed", time_zone: "UTC" }]);
});
