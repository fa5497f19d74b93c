import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInPricer } from "../../test/built-in-pricer.ts";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import {
  appendRow,
  type SeededAgent,
  seedAgent,
  seedProcess,
  startedOf,
  startRow,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../test/write-runs.ts";
import { connect, inWorkspace, type WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { beginning, type Position } from "../events/position.ts";
import { readEnd, readEventBatch, readGeneration } from "../events/store.ts";
import { recordDeaths } from "../processes/process-store.ts";
import { rollUp } from "../usage/index.ts";
import {
  claimAbandoned,
  claimCancelled,
  claimLastAttempts,
  countSuspects,
} from "./claiming/abandoned-statement.ts";
import { cancelledRuns } from "./claiming/cancelled-store.ts";
import { claimLimited, claimQueued, findClaimed } from "./claiming/claim-statement.ts";
import { endExhausted } from "./claiming/end-exhausted.ts";
import { endRestoredStatements } from "./claiming/end-restored-statement.ts";
import { readDraft } from "./executing/draft-store.ts";
import { cancelAllStored, cancelStored } from "./journal/cancel-statement.ts";
import { toEntry } from "./journal/journal-entry.ts";
import { readJournal, readSomeEvents } from "./journal/journal-store.ts";
import { readLastSeqs, readOutcome } from "./journal/result-store.ts";
import { deleteRunRows } from "./managing/delete-store.ts";
import { readRetried, readSenderEvent } from "./managing/retry-store.ts";
import { runDetails } from "./starting/start-row.ts";

/**
 * A prepared statement can keep a plan that was made while the tables were almost empty, such as a
 * sequential scan. So every statement is planned on an almost empty database with a generic plan,
 * then the tables grow by 50,000 runs, and the buffers of tables and indexes that each statement
 * reads are counted. No time is measured.
 */

const { database, url, role } = await testDatabase();
// With `poolSize` 2, the pools `planned.engine` and `planned.tenant` have one connection each. A
// plan belongs to a connection, so every later execution of a statement uses the plan of its first
// one.
const planned = connect({
  url: `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent("-c plan_cache_mode=force_generic_plan")}`,
  poolSize: 2,
  role,
  log: createLog("silent"),
});
afterAll(() => planned.close());

const tables = [
  "agents",
  "agent_versions",
  "processes",
  "runs",
  "run_inputs",
  "run_drafts",
  "run_results",
  "events",
  "workspace_events",
  "artifacts",
  "idempotency",
  "tokens",
  "triggers",
  "keys",
  "usage_entries",
  "usage_days",
  "usage_rollups",
];
/** The tables that grow by `grownBy` or `grownByAgents` rows. */
const grown = tables.filter(
  (table) =>
    !["agent_versions", "processes", "artifacts", "triggers", "keys", "usage_rollups"].includes(
      table,
    ),
);
/**
 * Returns the position after all events that were written until now. First waits until all older
 * transactions on the same PostgreSQL server have ended, including those of other tests: while an
 * older transaction is open, `readEnd` can return a position before the events of this test.
 */
async function endOfEvents(): Promise<Position> {
  const { rows } = await database.engine.query<{ id: string }>(
    "select pg_current_xact_id()::text as id",
  );
  return eventually(
    "the end of earlier transactions",
    async () => {
      const end = await readEnd(database.engine);
      return end.transaction > Number(rows[0]?.id) ? end : undefined;
    },
    60_000,
  );
}

const hash = Buffer.alloc(32, 1);
const grownBy = 50_000;
const grownByAgents = 2_000;
/**
 * Number of dead processes. There are few, since the row of a dead process that owns no running run
 * is deleted after a day.
 */
const grownByProcesses = 20;

// Turns autovacuum off: its reads would be counted, and its statistics would invalidate the plans.
await database.engine.query(
  tables.map((table) => `alter table ${table} set (autovacuum_enabled = false)`).join(";"),
);

const agent = await seedAgent(database);
const limited = await seedAgent(database, { limits: { max_concurrent_runs: 1_000 } });
const owner = await seedProcess(database);
const heir = await seedProcess(database);
const dead = await seedProcess(database);
await recordDeaths(database.engine, [dead], owner);

// Makes usage entries with negative transaction ids count as already summed up by day. The entries
// that this test inserts later, when the tables grow, have such ids.
await database.engine.query("insert into usage_rollups values ($1, 0, current_date)", [
  agent.workspaceId,
]);

const request = (of: string, limit: number) => ({
  owner: of,
  eventIds: Array.from({ length: limit }, () => newId("evt")),
});
const start = async (rows: ReturnType<typeof startRow>[]) =>
  (await startRuns(database, rows)).map(startedOf);
const many = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
const runningAt = (of: string, count: number) =>
  start(many(count, () => startRow(agent, { owner: of })));
const queuedOf = (of: SeededAgent, count: number) => start(many(count, () => startRow(of)));

/**
 * Creates runs of a dead process, at the given attempt. As `max_attempts` is 3, runs at attempt 3
 * have no attempt left.
 */
async function abandon(count: number, attempt: number): Promise<void> {
  const process = await seedProcess(database);
  await runningAt(process, count);
  await database.engine.query("update runs set attempt = $2 where owner = $1", [process, attempt]);
  await recordDeaths(database.engine, [process], owner);
}

/** Calls `work` in a transaction of the workspace, then flushes the connection's statistics. */
const inTenant = (work: (tx: WorkspaceTransaction) => Promise<unknown>) =>
  inWorkspace(planned.tenant, agent.workspaceId, async (tx) => {
    await work(tx);
    await sql`select pg_stat_force_next_flush()`.execute(tx);
  });

/** Prepares a running run for a case that measures `act`. */
const onRunning = (act: (run: ReturnType<typeof startedOf>) => Promise<unknown>) => async () => {
  const [run] = await runningAt(owner, 1);
  if (run === undefined) throw new Error("no run");
  return () => act(run);
};

/** Returns the row of an append that ends a run and has a metered call. */
const metered = (run: Parameters<typeof appendRow>[0]) =>
  appendRow(run, owner, {
    transition: succeeded,
    calls: [
      {
        entry: 0,
        call: {
          kind: "model",
          step: 1,
          outcome: "answered",
          modelName: "demo/echo",
          usage: succeeded.usage,
          price: { micros: 1, standardMicros: 1, origin: "library" },
        },
      },
    ],
  });

/** Each case prepares data, which is not measured, and returns the statement to measure. */
const cases: Record<string, () => Promise<() => Promise<unknown>>> = {
  "one start": async () => () =>
    startRuns(planned, [startRow(agent, { owner, key: newId("req"), bodyHash: hash })]),
  "100 starts": async () => () =>
    startRuns(
      planned,
      many(100, () => startRow(agent, { owner, key: newId("req"), bodyHash: hash })),
    ),
  "100 starts with labels": async () => () =>
    startRuns(
      planned,
      many(100, () =>
        startRow(agent, { owner, labels: { externalId: newId("req"), tags: ["a"] } }),
      ),
    ),
  "a repeated start": async () => {
    const row = startRow(agent, { owner });
    await startRuns(database, [row]);
    return () => startRuns(planned, [row]);
  },
  "one append": onRunning((run) =>
    appendToRuns(planned, [appendRow(run, owner, { transition: succeeded })]),
  ),
  "100 appends": async () => {
    const runs = await runningAt(owner, 100);
    return () =>
      appendToRuns(
        planned,
        runs.map((run) => appendRow(run, owner, { transition: succeeded })),
      );
  },
  "100 appends with metered calls": async () => {
    const runs = await runningAt(owner, 100);
    return () => appendToRuns(planned, runs.map(metered));
  },
  "a roll-up of usage": async () => {
    const runs = await runningAt(owner, 20);
    await appendToRuns(database, runs.map(metered));
    return () => rollUp(planned).then(() => inTenant(async () => {}));
  },
  "a fenced append": onRunning((run) =>
    appendToRuns(planned, [appendRow(run, owner, { fence: 9 })]),
  ),
  "a claim": async () => {
    await queuedOf(agent, 10);
    return () => claimQueued(planned, request(owner, 10));
  },
  "a claim of limited agents": async () => {
    await queuedOf(limited, 5);
    return () => claimLimited(planned, request(owner, 5));
  },
  "finding lost claims": async () => {
    const process = await seedProcess(database);
    return () => findClaimed(planned, [request(process, 50)]);
  },
  "a failover": async () => {
    await abandon(5, 1);
    return () => claimAbandoned(planned, request(heir, 5));
  },
  "a failover for the last attempt": async () => {
    await abandon(5, 2);
    return () => claimLastAttempts(planned, request(heir, 5), []);
  },
  "a failover of half of the suspects": async () => {
    await abandon(2, 3);
    await countSuspects(database);
    // Takes over both halves of the suspects, which are runs that may have killed their process, so
    // that none is left for the next case.
    return () =>
      claimLastAttempts(planned, request(heir, 1), []).then(() =>
        claimLastAttempts(planned, request(heir, 1), []),
      );
  },
  "a failover only to cancel": async () => () => claimCancelled(planned, request(heir, 5)),
  "a count of suspects": async () => {
    await abandon(5, 2);
    return () =>
      countSuspects(planned).then(() => claimLastAttempts(database, request(heir, 5), []));
  },
  "ending runs without attempts": async () => () =>
    endExhausted({ database: planned, pricer: builtInPricer }, 50),
  "ending the queued and held runs of a restored database": async () => {
    await queuedOf(agent, 10);
    const { eventIds } = request(owner, 10);
    return async () => {
      for (const one of endRestoredStatements) await planned.engine.query(one.query({ eventIds }));
    };
  },
  "a cancellation": async () => {
    const [run] = await queuedOf(agent, 1);
    if (run === undefined) throw new Error("no run");
    return () => cancelStored(planned, run, { eventId: newId("evt"), message: "test" });
  },
  "a cancellation of 20 at once": async () => {
    const [queued, running] = [await queuedOf(agent, 10), await runningAt(owner, 10)];
    const { workspaceId } = agent;
    const runIds = [...queued, ...running].map((run) => run.runId);
    return () => inTenant((tx) => cancelAllStored(tx, { runIds, workspaceId, message: "test" }));
  },
  "a cancellation of 10 that were released": async () => {
    const runs = await runningAt(owner, 10);
    const entries = [toEntry({ type: "run.queued", data: {} })];
    await appendToRuns(
      database,
      runs.map((run) => appendRow(run, owner, { entries, transition: "queued" })),
    );
    const { workspaceId } = agent;
    const runIds = runs.map((run) => run.runId);
    return () => inTenant((tx) => cancelAllStored(tx, { runIds, workspaceId, message: "test" }));
  },
  "a deletion of 10 at once": async () => {
    const runs = await runningAt(owner, 10);
    await appendToRuns(
      database,
      runs.map((run) => appendRow(run, owner, { transition: succeeded })),
    );
    return () =>
      inTenant((tx) =>
        deleteRunRows(
          tx,
          agent.workspaceId,
          runs.map((run) => run.runId),
        ),
      );
  },
  "a retry": async () => {
    const [run] = await runningAt(owner, 1);
    if (run === undefined) throw new Error("no run");
    await appendToRuns(database, [appendRow(run, owner, { transition: succeeded })]);
    const { runId: original, workspaceId } = run;
    const details = runDetails({
      version: 1,
      retryOf: original,
      keyScope: "key:x POST /",
      audit: { id: newId("aud"), address: null, action: "run.retry", data: "{}" },
    });
    const caller = { kind: "authenticated" as const, principal: "key:x", workspaceId };
    const row = startRow(agent, { caller, key: newId("req"), bodyHash: hash, details });
    return async () => {
      await inTenant(async (tx) => {
        await readRetried(tx, { workspaceId, runId: original, agentIds: undefined });
        await readSenderEvent(tx, { workspaceId, runId: original, isUnbound: false });
      });
      await startRuns(planned, [row]);
    };
  },
  "a draft run, and what executes or retries it": async () => {
    const { workspaceId } = agent;
    const details = runDetails({ version: 1, draft: { config: "{}", providerId: null } });
    const caller = { kind: "authenticated" as const, principal: "key:x", workspaceId };
    const row = startRow(agent, { caller, source: "draft", details });
    return async () => {
      await startRuns(planned, [row]);
      expect(await readDraft(planned, { ...row, workspaceId })).toBeDefined();
      await inTenant((tx) =>
        readRetried(tx, { workspaceId, runId: row.runId, agentIds: undefined }),
      );
    };
  },
  "finding cancelled runs": async () => () => cancelledRuns(planned.engine, heir),
  "reading a run's events": onRunning((run) => readSomeEvents(planned, run, 0)),
  "reading a run's journal": onRunning((run) => readJournal(planned, run)),
  "reading a run's outcome": onRunning((run) => readOutcome(planned, run)),
  "the events after a position": async () => {
    const after = await endOfEvents();
    await runningAt(owner, 20);
    return () =>
      readEventBatch(planned.engine, [agent.workspaceId, limited.workspaceId], {
        after,
        limit: 200,
      });
  },
  "the events between two positions": async () => {
    const after = await endOfEvents();
    await runningAt(owner, 20);
    const upTo = await endOfEvents();
    await runningAt(owner, 20);
    return () => readEventBatch(planned.engine, [agent.workspaceId], { after, upTo, limit: 10 });
  },
  "whether a cursor is of this generation": async () => () =>
    readGeneration(planned.engine, agent.workspaceId, beginning),
  "polling 50 runs": async () => {
    const runs = await runningAt(owner, 50);
    return () =>
      readLastSeqs(
        planned,
        runs.map((run) => run.runId),
      );
  },
};

/**
 * Counts the buffers that `act` reads, cached or not, and the rows that it reads by sequential
 * scans of tables that grow.
 */
async function readBy(act: () => Promise<unknown>): Promise<{ pages: number; scanned: number }> {
  const soFar = async () => {
    // Writes the statistics of both connections, so that the query below sees them.
    await planned.engine.query("select pg_stat_force_next_flush()");
    await database.engine.query("select pg_stat_force_next_flush()");
    const { rows } = await database.engine.query<{ pages: string; scanned: string }>(
      `select (select sum(seq_tup_read) from pg_stat_user_tables where relname = any ($1))
        as scanned,
        sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_read, 0)
        + coalesce(toast_blks_hit, 0) + coalesce(tidx_blks_read, 0) + coalesce(tidx_blks_hit, 0)) as pages from pg_statio_user_tables`,
      [grown],
    );
    return { pages: Number(rows[0]?.pages), scanned: Number(rows[0]?.scanned) };
  };
  const before = await soFar();
  await act();
  const after = await soFar();
  return { pages: after.pages - before.pages, scanned: after.scanned - before.scanned };
}

const small = new Map<string, number>();

beforeAll(async () => {
  for (const [name, prepare] of Object.entries(cases)) {
    for (let time = 0; time < 3; time++) small.set(name, (await readBy(await prepare())).pages);
  }
  // Grows the tables. Most of the new runs have ended; their owners are `owner` and dead processes.
  await database.engine.query(
    `insert into processes (id, engine_version, lease_until, died_at)
      select 'prc_old_' || n, 1, now(), now() from generate_series(1, ${grownByProcesses}) n`,
  );
  await database.engine.query(
    `insert into agents (id, workspace_id, version, name, max_concurrent_runs, max_queued_runs)
      select case when n % 2 = 0 then 'agt_00_' else 'agt_zz_' end || n, $1, 1, 'Old', case when n % 4 > 1 then 5 end, 100 from generate_series(1, ${grownByAgents}) n`,
    [agent.workspaceId],
  );
  await database.engine.query(
    `insert into tokens (hash, workspace_id, agent_id, sealed) select sha256(id::bytea), workspace_id, id, 'sealed' from agents where name = 'Old'`,
  );
  // Adds running runs of `owner`, and queued runs of another agent.
  await start(many(1_000, () => startRow(agent, { owner })));
  await queuedOf(await seedAgent(database), 5_000);
  // In parts, because readers of events in all databases of the server wait for the transaction.
  const part = grownBy / 10;
  for (let from = 1; from <= grownBy; from += part)
    await database.engine.query(
      `with grown as (
        insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq, started_at, finished_at)
        select 'run_0' || lpad(n::text, 25, '0'), $1, $2, 'succeeded', case when n % 2 = 0 then $3 else 'prc_old_' || (n % ${grownByProcesses}) end, 1, 2, now(), now()
        from generate_series($5::int, $6) n returning id
      ), inputs as (
        insert into run_inputs (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
        select id, $1, 1, 'invoke', 'hello', 'token:x', 1 from grown
      ), drafts as (
        insert into run_drafts (run_id, workspace_id, config) select id, $1, '{}' from grown
      ), results as (
        insert into run_results (run_id, workspace_id, output, input_tokens, output_tokens, cached_input_tokens, usage_estimated)
        select id, $1, 'hello', 1, 1, 0, false from grown
      ), keys as (
        insert into idempotency (workspace_id, scope, key, body_hash, run_id) select $1, 'agt_00_' || (hashtext(id) % 1000), id, $4, id from grown
      )
      insert into events (run_id, seq, workspace_id, id, type, version, data)
        select id, seq, $1, 'evt_' || id || seq, 'run.started', 1, '{}' from grown, generate_series(1, 2) seq`,
      [agent.workspaceId, agent.agentId, owner, hash, from, from + part - 1],
    );
  // Inserts usage entries of the current day that count as already summed up, because their
  // transaction ids are negative. The next statement inserts daily sums for the 500 days before.
  await database.engine.query(
    `insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
        step, attempt, outcome, kind, provider, model, cost_micros, estimated, transaction)
      select 'run_0' || lpad(n::text, 25, '0'), 2, 1, $1, current_date, $2, 'invoke', 'token:x', 1, 1,
        'answered', 'model', 'demo', 'echo', 0, false, n - 100000000
      from generate_series(1, ${grownBy}) n`,
    [agent.workspaceId, agent.agentId],
  );
  await database.engine.query(
    `insert into usage_days (workspace_id, day, agent_id, provider, model, principal, kind, entries,
        input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
        voice_ms, browser_ms, cost_micros, unknown_cost_entries, standard_cost_micros,
        unknown_standard_cost_entries, estimated_entries)
      select $1, current_date - 1 - n % 500, $2, 'demo', 'echo', 'key:' || n, 'model', 1, 1, 1, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0
      from generate_series(1, ${grownBy}) n`,
    [agent.workspaceId, agent.agentId],
  );
  await database.engine.query(
    `insert into workspace_events (id, workspace_id, agent_id, type, version, data)
      select 'evt_' || n, $1, $2, 'agent.paused', 1, '{}' from generate_series(1, ${grownBy}) n`,
    [agent.workspaceId, agent.agentId],
  );
});

test.each(Object.keys(cases))(
  "%s reads no more buffers than on an almost empty database, except for deeper indexes",
  async (name) => {
    const prepare = cases[name];
    if (prepare === undefined) throw new Error("no such case");
    const before = small.get(name) ?? 0;
    const { pages: after, scanned } = await readBy(await prepare());
    // Sequential scans are checked separately: a scan of `agents` or `tokens` reads only about 30
    // buffers, fewer than the tolerance below.
    expect(scanned, "rows read by sequential scans").toBe(0);
    // An index on 50,000 rows is two levels deeper than an empty one. Scanning a table that has
    // grown by 50,000 rows would read at least 400 more buffers.
    expect(after).toBeGreaterThan(0);
    expect(after, `${before} pages before`).toBeLessThan(before * 2 + 150);
  },
);
