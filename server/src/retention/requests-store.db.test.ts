import { afterAll, expect, test } from "vitest";
import { addRun } from "../../test/add-run.ts";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedTrigger } from "../../test/tenant.ts";
import { connect } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { readConfig } from "../config.ts";
import { requestsOfDeletedTriggers, requestsWithoutRun } from "./requests-store.ts";
import { oldRuns } from "./runs-store.ts";

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pool `planned.engine` has one connection.
const planned = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => planned.close());

test("a run is deleted with the content of its request's copies, which started no run", async () => {
  const owner = await seedAgent(database);
  const createdAt = new Date(Date.now() - 31 * 24 * 3_600_000);
  const old = await addRun(database, owner, { createdAt });
  await database.engine.query(
    `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, run_id, replay_of,
        event_id, size, body)
      values ('own', $2, 'a', 'trg_1', 'started', $1, 'original', 'evt', 2, '42'),
        ('attempt', $2, 'a', 'trg_1', 'rejected', null, null, 'evt', 2, '42'),
        ('original', $2, 'a', 'trg_1', 'filtered', null, null, null, 2, '42'),
        ('other event', $2, 'a', 'trg_1', 'rejected', null, null, 'other', 2, '42'),
        ('other run', $2, 'a', 'trg_1', 'started', 'run_2', null, 'evt', 2, '42'),
        ('other trigger', $2, 'a', 'trg_2', 'rejected', null, null, 'evt', 2, '42')`,
    [old, owner.workspaceId],
  );
  const deleteSome = oldRuns(database.engine, readConfig({}).retention, new Date());
  expect(await deleteSome?.(10)).toMatchObject({ deleted: { runs: 1 } });
  const { rows } = await database.engine.query(
    "select id from received_requests where workspace_id = $1 and body is not null order by id",
    [owner.workspaceId],
  );
  expect(rows.map(({ id }) => id)).toEqual(["other event", "other run", "other trigger"]);
});

test("received requests of a deleted trigger are deleted", async () => {
  const agent = await seedAgent(database);
  const triggers: string[] = [];
  for (const _ of [1, 2, 3]) triggers.push((await seedTrigger(database, agent)).triggerId);
  await database.engine.query(
    `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, size, body)
      select 'req_' || n, $1, $2, t, 'filtered', 2, '42'
      from unnest($3::text[]) t, generate_series(1, 3) n`,
    [agent.workspaceId, agent.agentId, triggers],
  );
  await database.engine.query("update triggers set deleted_at = now() where id = any ($1)", [
    [triggers[0], triggers[2]],
  ]);
  // Batches of two: one ends within a trigger.
  const deleteSome = requestsOfDeletedTriggers(
    database.engine,
    readConfig({}).retention,
    new Date(),
  );
  for (let hasMore = true; hasMore; ) hasMore = (await deleteSome?.(2))?.hasMore === true;
  const { rows } = await database.engine.query(
    "select distinct trigger_id as id from received_requests",
  );
  expect(rows.filter(({ id }) => triggers.includes(id))).toEqual([{ id: triggers[1] }]);
});

test("the copies of a run's request are found by index, even with the plan of a small table", async () => {
  await database.engine.query("alter table received_requests set (autovacuum_enabled = false)");
  const { workspaceId, agentId } = await seedAgent(database);
  const add = (from: number, to: number) =>
    database.engine.query(
      `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, event_id, size,
          body)
        select 'req_' || n, $1, $2, 'trg_x', 'rejected', 'evt_' || n, 2, '42'
        from generate_series($3::int, $4::int) n`,
      [workspaceId, agentId, from, to],
    );
  const find = async () => {
    const { rowCount } = await planned.engine.query({
      name: "copies",
      text: `with e (trigger_id, event_id, replay_of) as (values ($1, $2, $3))
        ${requestsWithoutRun("e")}`,
      values: ["trg_x", "evt_1", "req_2"],
    });
    return rowCount;
  };
  const pagesRead = async () => {
    await planned.engine.query("select pg_stat_force_next_flush()");
    const { rows } = await database.engine.query<{ pages: string }>(
      `select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit as pages
        from pg_statio_user_tables where relname = 'received_requests'`,
    );
    return Number(rows[0]?.pages);
  };
  await add(1, 3);
  await database.engine.query("analyze received_requests");
  expect(await find()).toBe(2);
  await add(4, 10_000);
  const before = await pagesRead();
  expect(await find()).toBe(2);
  // Reading all requests of the trigger would read more than 200 pages.
  expect((await pagesRead()) - before).toBeLessThan(50);
});
