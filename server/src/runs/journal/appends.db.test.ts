import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { appendRow, seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { createMutex } from "../../base/database/index.ts";
import { createLog } from "../../base/log.ts";
import { KnownSubscriptions } from "../../events/index.ts";
import { createAppends } from "./appends.ts";
import { toEntry } from "./journal-entry.ts";

const { database } = await testDatabase();

test("a run that is held has not started, even if its workspace has no limit any more", async () => {
  const appends = createAppends(database, {
    mutex: createMutex(),
    budgetMutex: createMutex(),
    reservations: { isLimited: () => false, holds: () => false, noteLimited() {} },
    subscriptions: new KnownSubscriptions(),
    log: createLog("silent"),
    onWritten() {},
    onReturned() {},
  });
  const owner = await seedProcess(database);
  const run = await startOne(database, await seedAgent(database), { owner });
  await database.engine.query("update runs set waited_ms = 5 where id = $1", [run.runId]);
  const entries = [toEntry({ type: "run.waiting", data: {} })];
  const hold = appendRow(run, owner, { entries, unlessCancelled: true, transition: "waiting" });
  expect(await appends.submit(hold)).toMatchObject({ kind: "written" });
  const { rows } = await database.engine.query(
    "select status, started_at, waited_ms from runs where id = $1",
    [run.runId],
  );
  expect(rows).toEqual([{ status: "waiting", started_at: null, waited_ms: "0" }]);
});
