import { afterAll, expect, test } from "vitest";
import { addRun } from "../../../test/add-run.ts";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { connect } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { readStatus } from "./read-status.ts";
import { createLiveRuns } from "./subscribers.ts";

const { database } = await testDatabase();
// Nothing listens on port 1.
const unreachable = connect({
  url: "postgres://beckon@127.0.0.1:1/beckon",
  poolSize: 4,
  role: undefined,
  log: createLog("silent"),
});
afterAll(() => unreachable.close());

const owner = await seedAgent(database);
const runId = await addRun(database, owner, { status: "succeeded" });
const run = { runId, workspaceId: owner.workspaceId };
const live = createLiveRuns();

test("the stored status takes precedence over the one in which the run was created", async () => {
  expect(await readStatus({ database, live }, { ...run, initialStatus: "queued" })).toBe(
    "succeeded",
  );
});

test("while the database is unreachable, a new run has the status in which it was created, and a repeated request fails", async () => {
  const ports = { database: unreachable, live };
  expect(await readStatus(ports, { ...run, initialStatus: "running" })).toBe("running");
  await expect(readStatus(ports, { ...run, initialStatus: undefined })).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("a run that was deleted has no status", async () => {
  const deleted = { ...run, runId: newId("run"), initialStatus: "queued" } as const;
  await expect(readStatus({ database, live }, deleted)).rejects.toMatchObject({ code: "conflict" });
});
