import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { growJournal } from "../../test/grow-journal.ts";
import { seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { startRuns } from "../../test/write-runs.ts";
import { createCatchUp } from "./catch-up.ts";
import { beginning } from "./position.ts";
import { readEnd } from "./store.ts";

const { database } = await testDatabase();
const { engine } = database;
const owner = await seedProcess(database);

test("a batch ends once its events have 64 KiB of data", async () => {
  const agent = await seedAgent(database);
  const row = startRow(agent, { owner });
  await startRuns(database, [row]);
  await growJournal(engine, row.runId, 20, 20_000);
  // The events can be read once all transactions that were open when they were written have ended,
  // also those of other tests: transaction ids are those of the whole cluster.
  const batch = await eventually("the events", async () => {
    const read = await createCatchUp(database)(agent.workspaceId, {
      after: beginning,
      upTo: await readEnd(engine),
      limit: 32,
      sources: undefined,
      signal: new AbortController().signal,
    });
    return read?.hasMore ? read : undefined;
  });
  // The first event has no text. The fourth of the others is the first to exceed the limit.
  expect(batch.events).toHaveLength(5);
});
