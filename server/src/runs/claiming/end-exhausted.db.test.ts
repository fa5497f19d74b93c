import { expect, test } from "vitest";
import { builtInPricer } from "../../../test/built-in-pricer.ts";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { createLog } from "../../base/log.ts";
import { OwnProcess, recordDeaths } from "../../processes/index.ts";
import { Capacity, type OwnedRun } from "../executing/index.ts";
import { createUnconfirmedStarts } from "../starting/index.ts";
import { createLiveRuns } from "../subscribing/index.ts";
import { takeOverRuns, type UnconfirmedClaim } from "./claim.ts";
import { UnreadableRuns } from "./unreadable-runs.ts";

const { database } = await testDatabase();

test("one call ends all runs without attempts, except one whose journal cannot be read, and takes over the others", async () => {
  const once = await seedAgent(database, { limits: { max_attempts: 1 } });
  const [dead, heir] = [await seedProcess(database), await seedProcess(database)];
  const unreadable = await startOne(database, once, { owner: dead });
  await Promise.all(Array.from({ length: 119 }, () => startOne(database, once, { owner: dead })));
  const resumable = await startOne(database, await seedAgent(database), { owner: dead });
  await database.engine.query(
    `with added as (
      insert into events (run_id, seq, workspace_id, id, type, version, data)
      select id, 2, workspace_id, 'evt_unreadable', 'run.step', 1, '{"step": "none"}'
      from runs where id = $1 returning run_id
    ) update runs set last_seq = 2 from added where id = run_id`,
    [unreadable.runId],
  );
  await recordDeaths(database.engine, [dead], heir);

  const executed: string[] = [];
  const lines: string[] = [];
  const ports = {
    database,
    unreadable: new UnreadableRuns(
      createLog("error", { output: { write: (line) => void lines.push(line) } }),
    ),
    process: new OwnProcess(heir),
    live: createLiveRuns(),
    unconfirmedClaims: new Set<UnconfirmedClaim>(),
    unconfirmedStarts: createUnconfirmedStarts(),
    capacity: new Capacity({ max: 10, executes: true, heap: { isFull: false } }),
    memory: { runs: new ByteBudget({ maxBytes: 1 }) },
    reservations: {
      noteClaimed() {},
      waiting: () => new Map<string, number>(),
      blocked: () => [],
    },
    worker: { takeOver() {} },
    eventPoller: { noteWritten() {} },
    pricer: builtInPricer,
    onReturned() {},
    reports: { ended() {}, resumed() {} },
    execute: async ({ runId }: OwnedRun) => void executed.push(runId),
  };
  await takeOverRuns(ports);
  // It is not read again so soon, so it is logged once.
  await takeOverRuns(ports);

  const { rows } = await database.engine.query(
    `select r.status, e.error_code as error, count(*)::int as count
      from runs r left join run_results e on e.run_id = r.id where r.agent_id = $1
      group by 1, 2 order by count`,
    [once.agentId],
  );
  expect(rows).toEqual([
    { status: "running", error: null, count: 1 },
    { status: "failed", error: "interrupted", count: 119 },
  ]);
  expect(executed).toEqual([resumable.runId]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: "a lost run could not be ended; it will be retried", run_id: unreadable.runId },
  ]);
});
