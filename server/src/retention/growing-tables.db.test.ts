import { afterAll, expect, test } from "vitest";
import { addDatedRows } from "../../test/add-dated-rows.ts";
import { testDatabase } from "../../test/database.ts";
import { seedAgent } from "../../test/tenant.ts";
import { connect } from "../base/database/index.ts";
import { lowestIdAt } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { readConfig } from "../config.ts";
import { datedRows } from "./dated-rows-store.ts";
import { oldDeliveries } from "./deliveries-store.ts";

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pool `planned.engine` has one connection. A connection plans each
// statement once: here on small tables. It uses the same plan after the tables have grown.
const planned = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => planned.close());
const { workspaceId } = await seedAgent(database);

const tables = [
  "sessions",
  "invitations",
  "password_resets",
  "trigger_event_ids",
  "request_counts",
  "idempotency",
  "received_requests",
  "deliveries",
  "delivery_attempts",
];
// Turns autovacuum off: its statistics would invalidate the plans.
await database.engine.query(
  tables.map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join(";"),
);

/** Adds `count` rows that are `days` days old to each table. */
async function add(label: string, days: number, count: number): Promise<void> {
  await addDatedRows(database.engine, workspaceId, { label, days, count });
  const before = new Date(Date.now() - days * 24 * 3_600_000);
  await database.engine.query(
    `with sent as (insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type,
        version, status, finished_at)
        select $1 || n, $2, 'sub_1', 'event', 'evt_1', 'run.finished', 1, 'failed', $4
        from generate_series(1, $3::int) n returning id, subscription_id, workspace_id)
      insert into delivery_attempts (subscription_id, delivery_id, number, workspace_id, started_at,
        duration_ms, url, request_headers, response_headers, response_body)
        select subscription_id, id, 1, workspace_id, now(), 1, 'https://example.com', '{}', '{}', ''
        from sent`,
    [lowestIdAt("dlv", before).slice(0, 14) + label, workspaceId, count, before],
  );
}

async function pagesRead(): Promise<number> {
  await planned.engine.query("select pg_stat_force_next_flush()");
  const { rows } = await planned.engine.query<{ pages: string }>(
    `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0)
        + coalesce(idx_blks_hit, 0)) as pages
      from pg_statio_user_tables where relname = any ($1)`,
    [tables],
  );
  return Number(rows[0]?.pages);
}

test("a batch reads only the rows that it deletes, even with the plan of a small table", async () => {
  const { retention } = readConfig({});
  const deletions = [...datedRows, oldDeliveries].flatMap(
    (prepare) => prepare(planned.engine, retention, new Date()) ?? [],
  );
  await add("first", 31, 3);
  await database.engine.query("analyze");
  for (const deleteSome of deletions) await deleteSome(10);
  await add("old", 31, 60);
  await add("new", 29, 10_000);
  for (const deleteSome of deletions) {
    const before = await pagesRead();
    const { deleted } = await deleteSome(50);
    const [kind, rows = 0] = Object.entries(deleted)[0] ?? [];
    expect(rows, kind).toBe(50);
    // By index, a deletion reads about five pages for each row. Scanning a table would read more
    // than 2,000 pages.
    expect((await pagesRead()) - before, kind).toBeLessThan(1_000);
  }
});
