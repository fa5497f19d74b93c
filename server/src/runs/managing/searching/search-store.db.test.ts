import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDatabase } from "../../../../test/database.ts";
import { seedAgent, startRow } from "../../../../test/tenant.ts";
import { startRuns } from "../../../../test/write-runs.ts";
import { connect, inWorkspace } from "../../../base/database/index.ts";
import { createLog } from "../../../base/log.ts";
import { maxScanned, type Search, searchRuns } from "./search-store.ts";

/**
 * The cost of a search must not grow with the tables. It is measured as the number of buffers of
 * tables and indexes that a search reads, with 40,000 and then 120,000 ended runs. No time is
 * measured.
 */

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pool `counted.tenant` has one connection. So `pg_stat_force_next_flush`
// flushes the statistics of the connection that searched, and all its reads are counted.
const counted = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => counted.close());

const first = 40_000;
const later = 120_000;
const agent = await seedAgent(database);
const { workspaceId } = agent;
const other = await seedAgent(database, { workspaceId });
const rare = await seedAgent(database, { workspaceId });
const stranger = await seedAgent(database);

// Turns autovacuum off: its reads would be counted, and its statistics could change the plans.
const tables = ["runs", "run_inputs", "run_results"];
await database.engine.query(
  tables.map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join(";"),
);

/**
 * Inserts ended runs with the numbers `from` to `to`, each with an error. Every third run belongs
 * to `other`, and all others belong to `agent`.
 */
async function grow(from: number, to: number): Promise<void> {
  // In parts, because readers of events in all databases of the server wait for the transaction.
  const part = 10_000;
  for (let start = from; start <= to; start += part) await insert(start, start + part - 1);
}

async function insert(from: number, to: number): Promise<void> {
  await database.engine.query(
    `with grown as (
      insert into runs (id, workspace_id, agent_id, status, fence, last_seq, started_at, finished_at)
      select 'run_0' || lpad(n::text, 25, '0'), $1, case when n % 3 = 0 then $3 else $2 end, 'failed', 1, 2, now(), now()
      from generate_series($4::int, $5::int) n returning id
    ), inputs as (
      insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
      select id, $1, 1, 'invoke', 'hello', 'token:x', 1 from grown
    )
    insert into run_results (run_id, workspace_id, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated)
      select id, $1, 'model_error', case when id like '%00000001' then 'the needle' else 'the hay' end, 1, 1, 0, false from grown`,
    [workspaceId, agent.agentId, other.agentId, from, to],
  );
}

/**
 * Analyzes all tables, and flushes the statistics of this connection, which has also filled the
 * tables. Otherwise the reads of this connection would be added to those of a search that is
 * measured later.
 */
const analyze = () => database.engine.query("analyze; select pg_stat_force_next_flush()");

const search = (given: Partial<Search> = {}) =>
  inWorkspace(counted.tenant, workspaceId, (tx) =>
    searchRuns(tx, workspaceId, {
      agentIds: undefined,
      filter: {},
      below: undefined,
      limit: 50,
      ...given,
    }),
  );

async function pagesOf(act: () => Promise<unknown>): Promise<number> {
  const flush: RawBuilder<unknown> = sql`select pg_stat_force_next_flush()`;
  const touched = async () => {
    await flush.execute(counted.tenant);
    const { rows } = await database.engine.query<{ pages: string }>(
      `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_read, 0)
        + coalesce(toast_blks_hit, 0)) as pages from pg_statio_user_tables where relname = any ($1)`,
      [tables],
    );
    return Number(rows[0]?.pages);
  };
  const before = await touched();
  await act();
  return (await touched()) - before;
}

const searches: Readonly<Record<string, Partial<Search>>> = {
  "all runs": {},
  "the runs of one agent": { filter: { agent_id: agent.agentId } },
  "the runs of an agent with few": { filter: { agent_id: rare.agentId } },
  "the runs of some agents": { agentIds: [agent.agentId, other.agentId, rare.agentId] },
  "runs in a state that none is in": { filter: { status: ["succeeded"] } },
  "queued runs": { filter: { status: ["queued"] } },
  "runs to cancel": { filter: {}, change: ["queued", "running"] },
  "an error that no run has": { filter: { error: "nothing like it" } },
  "an error that no run of some agents has": {
    agentIds: [agent.agentId, other.agentId],
    filter: { error: "nothing like it" },
  },
  "a source that no run has": { filter: { source: ["trigger"] } },
  "an external id that few runs have": { filter: { external_id: "rare" } },
  "an external id that no run has": { filter: { external_id: "none" } },
  "an external id of the runs of some agents": {
    agentIds: [agent.agentId, other.agentId],
    filter: { external_id: "rare" },
  },
  "a tag that no run has": { filter: { tag: "none" } },
  "a time before all runs": { filter: { created_before: "2020-01-01T00:00:00Z" } },
  "a time after all runs": { filter: { created_after: "2100-01-01T00:00:00Z" } },
};
const early = new Map<string, number>();

beforeAll(async () => {
  await grow(1, first);
  await startRuns(database, [startRow(rare), startRow(rare), startRow(stranger)]);
  const labels = { externalId: "rare", tags: ["rare"] };
  await startRuns(database, [startRow(agent, { labels }), startRow(stranger, { labels })]);
  await analyze();
  for (const [name, given] of Object.entries(searches))
    early.set(name, await pagesOf(() => search(given)));
  await grow(first + 1, later);
  await analyze();
});

test.each(Object.keys(searches))(
  "a page of %s costs no more when there are three times as many runs",
  async (name) => {
    const before = early.get(name) ?? 0;
    const after = await pagesOf(() => search(searches[name]));
    expect(after, `${before} pages before`).toBeLessThan(before * 1.5 + 150);
  },
);

test.each([
  "all runs",
  "the runs of one agent",
  "the runs of an agent with few",
  "queued runs",
  "runs to cancel",
  "an external id that few runs have",
  "an external id that no run has",
  "an external id of the runs of some agents",
])("a page of %s reads little more than it returns", async (name) => {
  expect(await pagesOf(() => search(searches[name]))).toBeLessThan(600);
});

describe("a search with few matches", () => {
  /** Reads all pages, and returns their number and the runs found. */
  async function walk(given: Partial<Search>) {
    const found: string[] = [];
    let pages = 0;
    for (let below: string | undefined; ; pages++) {
      const page = await search({ ...given, below });
      found.push(...page.runIds);
      if (page.nextBelow === undefined) return { found, pages: pages + 1 };
      below = page.nextBelow;
    }
  }
  const needle = `run_0${"1".padStart(25, "0")}`;

  test("ends each page after the maximum of scanned runs", async () => {
    const { found, pages } = await walk({ filter: { error: "NEEDLE" } });
    expect(found).toEqual([needle]);
    expect(pages).toBe(later / maxScanned + 1);
  });

  test("finds runs of some agents, whichever has more runs", async () => {
    const { found } = await walk({
      agentIds: [other.agentId, agent.agentId, rare.agentId],
      filter: { error: "needle" },
    });
    expect(found).toEqual([needle]);
  });

  test("returns every run once, in order, over full pages", async () => {
    const filter = { status: ["failed" as const] };
    const seen: string[] = [];
    for (let below: string | undefined; seen.length < 1_000; ) {
      const page = await search({
        agentIds: [agent.agentId, other.agentId],
        filter,
        below,
        limit: 300,
      });
      seen.push(...page.runIds);
      below = page.nextBelow;
    }
    const newest = Array.from(
      { length: seen.length },
      (_, index) => `run_0${String(later - index).padStart(25, "0")}`,
    );
    expect(seen).toEqual(newest);
  });
});
