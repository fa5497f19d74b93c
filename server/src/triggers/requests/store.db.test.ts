import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { connect, inWorkspace, type WorkspaceTransaction } from "../../base/database/index.ts";
import { createLog } from "../../base/log.ts";
import { findLastRequest, listRequestRows, selectForReplay } from "./store.ts";

/**
 * Anyone who has a trigger's URL can create rows without a body. What it costs to find those with a
 * body must not depend on them, and neither must the cost of one page of a list. It is measured as
 * the number of buffers of the table and its indexes that are read. No time is measured.
 */

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pool `counted.tenant` has one connection. So `pg_stat_force_next_flush`
// flushes the statistics of the connection that searched, and all its reads are counted.
const counted = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => counted.close());

const { workspaceId, agentId } = await seedAgent(database);
const key = { workspaceId, triggerId: "trg_1" };
const stored = 300;

/**
 * Inserts requests, of which those after the first `stored` ones have no body. Only those with the
 * outcome `invalid_signature`, and the first request, have the event type `push`.
 */
const add = (from: number, to: number, outcome: string) =>
  database.engine.query(
    `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, size, body,
        event_type)
      select 'req_0' || lpad(n::text, 25, '0'), $1, $2, $3, $4, 3, case when n <= $5 then 'abc'::bytea end,
        case when n = 1 or $4 = 'invalid_signature' then 'push' else 'other' end
      from generate_series($6::int, $7::int) n`,
    [workspaceId, agentId, key.triggerId, outcome, stored, from, to],
  );

beforeAll(async () => {
  // Turns autovacuum off: its reads would be counted, and its statistics could change the plans.
  await database.engine.query("alter table received_requests set (autovacuum_enabled = false)");
  await add(1, stored, "started");
  await add(stored + 1, 20_000, "rejected");
  await add(20_001, 40_000, "invalid_signature");
});

async function pagesOf(read: (tx: WorkspaceTransaction) => Promise<unknown>): Promise<number> {
  const touched = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(counted.tenant);
    const { rows } = await database.engine.query<{ pages: string }>(
      `select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit as pages
        from pg_statio_user_tables where relname = 'received_requests'`,
    );
    return Number(rows[0]?.pages);
  };
  const before = await touched();
  await inWorkspace(counted.tenant, workspaceId, read);
  return (await touched()) - before;
}

test.each(["select 'no statistics'", "analyze received_requests"])(
  "after 40,000 requests without a body and %j, finding stored ones does not read them",
  async (statement) => {
    // The reads of this connection would otherwise be added to those that are measured later.
    await database.engine.query(`${statement}; select pg_stat_force_next_flush()`);
    const last = await pagesOf(async (tx) =>
      expect(await findLastRequest(tx, key, 1_000)).toMatchObject({ outcome: "started" }),
    );
    const range = { from: "req_0", below: undefined, outcome: undefined };
    const forReplay = await pagesOf(async (tx) =>
      expect(await selectForReplay(tx, key, range, undefined, 1_001)).toHaveLength(stored),
    );
    // Walking the requests without a body would read more than 1,000 pages.
    expect(Math.max(last, forReplay)).toBeLessThan(200);
  },
);

test("finding requests that no replay has started does not read the replays of others", async () => {
  const other = { workspaceId, triggerId: "trg_2" };
  await database.engine.query(
    `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, size, body,
        replay_of)
      select case when n > 300 then 'req_1' else 'req_0' end || lpad(n::text, 25, '0'), $1, $2, $3,
        case when n > 300 then 'started' else 'mapping_error' end, 3,
        case when n <= 300 then 'abc'::bytea end,
        case when n > 300 then 'req_0' || lpad((n - 100)::text, 25, '0') end
      from generate_series(1, 20000) n`,
    [workspaceId, agentId, other.triggerId],
  );
  await database.engine.query("select pg_stat_force_next_flush()");
  const range = { from: "req_0", below: "req_1", outcome: undefined };
  const pages = await pagesOf(async (tx) => {
    // The last 100 of the first 300 requests were replayed.
    expect(await selectForReplay(tx, other, range, undefined, 1_001)).toHaveLength(200);
  });
  // Reading all replays for each of these requests would read more than 100,000 pages.
  expect(pages).toBeLessThan(3_000);
});

test("a page with two filters costs no more when most requests match only one of them", async () => {
  const list = (outcome: "rejected" | "started", below?: string) => (tx: WorkspaceTransaction) =>
    listRequestRows(tx, key, { outcome, event_type: "push" }, { below, limit: 51 });
  let below: string | undefined;
  const pages = await pagesOf(async (tx) => {
    const { rows, searchedTo } = await list("rejected")(tx);
    expect(rows).toEqual([]);
    expect(searchedTo).toBeDefined();
    below = searchedTo;
  });
  // Reading all requests that match one filter would read more than 600 pages.
  expect(pages).toBeLessThan(450);
  await inWorkspace(counted.tenant, workspaceId, async (tx) => {
    while (below !== undefined) {
      const page = await list("rejected", below)(tx);
      expect(page.rows).toEqual([]);
      below = page.searchedTo;
    }
    // Few requests have this outcome, so one page is enough.
    const { rows, searchedTo } = await list("started")(tx);
    expect(rows).toMatchObject([{ id: `req_0${"1".padStart(25, "0")}`, event_type: "push" }]);
    expect(searchedTo).toBeUndefined();
  });
});
