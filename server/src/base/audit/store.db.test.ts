import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { connect, inWorkspace } from "../database/index.ts";
import { lowestIdAt, newId } from "../ids.ts";
import { createLog } from "../log.ts";
import { createSecretCipher } from "../secrets/index.ts";
import { exportAudit } from "./export.ts";
import { listAuditRows } from "./store.ts";

/**
 * The cost of finding old entries must not grow with the log. It is measured as the number of
 * buffers of the table and its indexes that are read. No time is measured.
 */

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pool `counted.tenant` has one connection. So `pg_stat_force_next_flush`
// flushes the statistics of the connection that searched, and all its reads are counted.
const counted = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => counted.close());

const { workspaceId } = await seedAgent(database);
const now = Date.now();
const daysAgo = (days: number) => new Date(now - days * 86_400_000);
const timeAgo = (days: number) => daysAgo(days).toISOString();

beforeAll(async () => {
  const times = Array.from({ length: 20_000 }, (_, n) => daysAgo(365 - n / 60));
  const ids = times.map((time) => lowestIdAt("aud", time).slice(0, 14) + newId("aud").slice(14));
  // Turns autovacuum off: its reads would be counted, and its statistics could change the plans.
  await database.engine.query("alter table audit set (autovacuum_enabled = false)");
  await database.engine.query(
    `insert into audit (id, workspace_id, time, actor, action, target, data)
      select id, $1, time, case when n = 4 or n % 2 = 1 then 'odd' else 'even' end,
        case when n <= 3 then 'key.create' when n % 2 = 1 then 'session.end' else 'session.refuse' end, 'x', '{}'
      from unnest($2::text[], $3::timestamptz[]) with ordinality as e (id, time, n)`,
    [workspaceId, ids, times],
  );
  // The reads of this connection would otherwise be added to those that are measured later.
  await database.engine.query("analyze audit; select pg_stat_force_next_flush()");
});

/** Returns how many buffers of the table and its indexes were read so far. */
async function touched(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(counted.tenant);
  const { rows } = await database.engine.query<{ pages: string }>(
    `select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit as pages
      from pg_statio_user_tables where relname = 'audit'`,
  );
  return Number(rows[0]?.pages);
}

test.each([
  ["a rare action", { action: "key.create" }, 3],
  ["a range of times", { since: timeAgo(360.5), until: timeAgo(360) }, 30],
  ["an end", { until: timeAgo(364.5) }, 30],
])("finding the entries with %s reads no newer entries", async (_, filter, found) => {
  const before = await touched();
  const { rows } = await inWorkspace(counted.tenant, workspaceId, (tx) =>
    listAuditRows(tx, workspaceId, filter, { below: undefined, limit: 201 }),
  );
  expect(rows).toHaveLength(found);
  // Reading the newer entries, too, would take more than 300 pages.
  expect((await touched()) - before).toBeLessThan(100);
});

test("an export with two filters searches in bounded parts, and finds old entries", async () => {
  const filter = { actor: "odd", action: "session.refuse" };
  const { rows, searchedTo } = await inWorkspace(counted.tenant, workspaceId, (tx) =>
    listAuditRows(tx, workspaceId, filter, { below: undefined, limit: 201 }),
  );
  expect(rows).toEqual([]);
  expect(searchedTo).toBeDefined();
  const ctx = {
    database,
    cipher: createSecretCipher(randomBytes(32)),
    actor: { kind: "system" },
    workspaceId,
  } as const;
  const { values } = await exportAudit({ ctx, input: { query: filter } });
  const exported: unknown[] = [];
  for await (const value of values) exported.push(value);
  expect(exported).toMatchObject([filter]);
});
