import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent } from "../../test/tenant.ts";
import { connect } from "../base/database/index.ts";
import { lowestIdAt } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { datedRows } from "./dated-rows-store.ts";
import { oldDeliveries } from "./deliveries-store.ts";

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the engine's pool has one connection. It plans each statement once, on small
// tables, and uses the plan after they have grown.
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

/** Adds `count` rows to each table, whose age is `days`. */
async function add(label: string, days: number, count: number): Promise<void> {
  const each = `from (
    select n, $1 || n as id, now() - make_interval(days => $2) as t, $3::text as w
    from generate_series(1, $4::int) n
  ) r`;
  const dayMs = 24 * 3_600_000;
  const delivery = lowestIdAt("dlv", new Date(Date.now() - days * dayMs)).slice(0, 14) + label;
  await database.engine.query(
    `with users as (insert into users (id, name, email)
        select 'usr_' || id, 'Ada', id || '@example.com' ${each}),
      received as (insert into received_requests (id, workspace_id, agent_id, trigger_id,
        received_at, outcome, size) select id, w, 'a', 't', t, 'started', 0 ${each}),
      counts as (insert into request_counts (workspace_id, trigger_id, outcome, minute, count)
        select w, id, 'rejected', t, 1 ${each}),
      ids as (insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
        select w, 't', id, 'r', t + interval '30 days' ${each}),
      keys as (insert into idempotency (workspace_id, scope, key, body_hash, created_at)
        select w, 's', id, '', t ${each}),
      sessions as (insert into sessions (id, user_id, token, expires_at)
        select id, 'usr_' || id, id, t ${each}),
      sent as (insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type,
        version, status, finished_at)
        select $5 || n, w, 'sub_1', 'event', 'evt_1', 'run.finished', 1, 'failed', t ${each}),
      attempts as (insert into delivery_attempts (subscription_id, delivery_id, number,
        workspace_id, started_at, duration_ms, url, request_headers, response_headers, response_body)
        select 'sub_1', $5 || n, 1, w, t, 1, 'https://example.com', '{}', '{}', '' ${each}),
      links as (insert into password_resets (user_id, hash, expires_at, created_by, created_in)
        select 'usr_' || id, id::bytea, t, 'x', w ${each})
      insert into invitations (id, workspace_id, email, role, hash, created_by, expires_at)
        select id, w, 'x@example.com', 'viewer', id::bytea, 'x', t ${each}`,
    [label, days, workspaceId, count, delivery],
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
  const retention = {
    runsDays: 30,
    idempotencyDays: 30,
    deliveriesDays: 30,
    requestsDays: 30,
    sessionsDays: 30,
    invitationsDays: 30,
    auditDays: 0,
  };
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
    // These are about five for each row. Scanning a table would read more than 2,000.
    expect((await pagesRead()) - before, kind).toBeLessThan(1_000);
  }
});
