import { expect, onTestFinished, test, vi } from "vitest";
import { addDatedRows } from "../../test/add-dated-rows.ts";
import { addRun } from "../../test/add-run.ts";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { seedAgent, seedProcess, seedTrigger } from "../../test/tenant.ts";
import { whole, wholeRuns } from "../../test/whole-runs.ts";
import { connect } from "../base/database/index.ts";
import { lowestIdAt, newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import type { Retention } from "../base/retention/index.ts";
import { prune } from "./prune.ts";
import { oldRuns } from "./runs-store.ts";
import { secretsOfDeletedAgents } from "./secrets-store.ts";

const { database, name, url } = await testDatabase();
const query = (text: string, values: unknown[] = []) => database.engine.query(text, values);
const { addWholeRun, tablesWith } = wholeRuns(database);
const ownId = await seedProcess(database);

const forever: Retention = {
  runsDays: 0,
  idempotencyDays: 0,
  deliveriesDays: 0,
  requestsDays: 0,
  sessionsDays: 0,
  invitationsDays: 0,
  auditDays: 0,
  usageDays: 0,
};

/** Deletes what is older than its retention, and returns the numbers of deleted rows. */
async function pass(
  retention: Partial<Retention>,
  {
    processId = ownId,
    signal = new AbortController().signal,
    afterBatch = (_deleted: { readonly runs?: number }) => {},
    intervalSeconds = 0,
    log = captureLog().log,
  } = {},
): Promise<Record<string, number>> {
  const deleted: Record<string, number> = {};
  await prune(
    {
      database,
      retention: { ...forever, ...retention },
      process: { id: processId },
      metrics: {
        count(_name, [kind], by = 1) {
          deleted[String(kind)] = (deleted[String(kind)] ?? 0) + by;
        },
      },
      log,
    },
    {
      signal,
      intervalSeconds,
      pace(batch) {
        afterBatch(batch);
        return 0;
      },
    },
  );
  return deleted;
}

const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
const idAt = (prefix: "dlv" | "aud" | "req", days: number) =>
  lowestIdAt(prefix, daysAgo(days)).slice(0, 14) + newId(prefix).slice(14);

interface Owner {
  readonly workspaceId: string;
  readonly agentId: string;
}

async function addDelivery(
  { workspaceId }: Owner,
  { days, status, runId = null }: { days: number; status: string; runId?: string | null },
): Promise<string> {
  const id = idAt("dlv", days);
  const endedAt = status === "pending" ? null : daysAgo(days);
  await query(
    `with attempts as (
      insert into delivery_attempts (subscription_id, delivery_id, number, workspace_id, started_at,
        duration_ms, url, request_headers, response_headers, response_body)
      values ('sub_1', $1, 1, $2, now(), 1, 'https://example.com', '{}', '{}', 'Thanks for 42')
    )
    insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, run_id,
      data, status, next_at, finished_at)
    values ($1, $2, 'sub_1', 'event', 'evt_1', 'run.succeeded', 1, $3, '{"output":"42"}', $4, $5, $6)`,
    [id, workspaceId, runId, status, endedAt === null ? new Date() : null, endedAt],
  );
  return id;
}

test("a run that ended before its retention is deleted with all its rows, but not its usage", async () => {
  const owner = await seedAgent(database);
  const old = await addWholeRun(owner, { createdAt: daysAgo(31) });
  const recent = await addWholeRun(owner, { createdAt: daysAgo(29.9) });
  const delivery = await addDelivery(owner, { days: 1, status: "succeeded", runId: old });
  await query(
    `with bound as (
      insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
      values ($2, 'trg_1', 'evt', $1, now() + interval '1 day'))
    insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, run_id, size, body)
      values ('req_1', $2, 'a', 'trg_1', 'started', $1, 2, '42')`,
    [old, owner.workspaceId],
  );
  expect(await pass({ runsDays: 30 })).toEqual({ runs: 1, events: 3, artifacts: 1 });
  expect(await tablesWith([old, recent])).toEqual(whole([recent]));
  expect(
    (await query("select status, data from deliveries where id = $1", [delivery])).rows,
  ).toEqual([{ status: "succeeded", data: null }]);
  expect((await query("select response_body as body from delivery_attempts")).rows).toEqual([
    { body: "" },
  ]);
  expect((await query("select body from received_requests")).rows).toEqual([{ body: null }]);
  expect((await query("select run_id from trigger_event_ids")).rows).toEqual([{ run_id: old }]);
  expect((await query("select from usage_entries where run_id = $1", [old])).rowCount).toBe(1);
});

test("runs that have not ended, or not long ago, stay", async () => {
  const owner = await seedAgent(database);
  const kept: string[] = [];
  for (const status of ["queued", "running"] as const)
    kept.push(await addRun(database, owner, { createdAt: daysAgo(90), status }));
  const held = await addRun(database, owner, { createdAt: daysAgo(90), status: "queued" });
  await query("update runs set status = 'waiting' where id = $1", [held]);
  kept.push(held);
  // This run was created 90 days ago and ended 29 days ago.
  kept.push(
    await addRun(database, owner, { createdAt: daysAgo(90), durationMs: 61 * 24 * 3_600_000 }),
  );
  expect(await pass({ runsDays: 30 })).toEqual({});
  const { rows } = await query("select id from runs where id = any ($1)", [kept]);
  expect(rows).toHaveLength(kept.length);
});

test("the database's clock decides what is old, not that of this machine", async () => {
  const owner = await seedAgent(database);
  const run = await addWholeRun(owner, { createdAt: daysAgo(29) });
  vi.useFakeTimers({ toFake: ["Date"], now: daysAgo(-40) });
  onTestFinished(() => void vi.useRealTimers());
  expect(await pass({ runsDays: 30, idempotencyDays: 30, deliveriesDays: 30 })).toEqual({});
  expect(await tablesWith([run])).toEqual(whole([run]));
});

test("a run stays while one of its deliveries is pending, or a transaction has locked it", async () => {
  const owner = await seedAgent(database);
  const undelivered = await addWholeRun(owner, { createdAt: daysAgo(40) });
  const locked = await addWholeRun(owner, { createdAt: daysAgo(40) });
  await addDelivery(owner, { days: 40, status: "pending", runId: undelivered });
  const client = await database.engine.connect();
  try {
    await client.query("begin");
    // A replay of a delivery locks the delivery's run in this way.
    await client.query("select from runs where id = $1 for key share", [locked]);
    expect(await pass({ runsDays: 30, deliveriesDays: 30 })).toEqual({});
    expect(await tablesWith([undelivered, locked])).toEqual(whole([undelivered, locked]));
  } finally {
    await client.query("rollback");
    client.release();
  }
  await query(
    "update deliveries set status = 'failed', next_at = null, finished_at = $2 where run_id = $1",
    [undelivered, daysAgo(2)],
  );
  expect(await pass({ runsDays: 30, deliveriesDays: 30 })).toMatchObject({
    runs: 2,
    deliveries: 1,
  });
  expect(await tablesWith([undelivered, locked])).toEqual(whole([]));
});

test("a workspace keeps its runs for a shorter time, and the others keep theirs", async () => {
  const short = await seedAgent(database);
  const other = await seedAgent(database);
  await query("update workspaces set run_retention_days = 7 where id = $1", [short.workspaceId]);
  const gone = await addWholeRun(short, { createdAt: daysAgo(8) });
  const kept = [
    await addWholeRun(short, { createdAt: daysAgo(6) }),
    await addWholeRun(other, { createdAt: daysAgo(8) }),
  ];
  expect(await pass({ runsDays: 30 })).toMatchObject({ runs: 1 });
  expect(await tablesWith([gone, ...kept])).toEqual(whole(kept));
  // The operator keeps all runs, and the workspace keeps its runs for 8 days.
  const expired = await addWholeRun(short, { createdAt: daysAgo(9) });
  kept.push(await addWholeRun(short, { createdAt: daysAgo(7.5) }));
  await query("update workspaces set run_retention_days = 8 where id = $1", [short.workspaceId]);
  expect(await pass({})).toMatchObject({ runs: 1 });
  expect(await tablesWith([expired, ...kept])).toEqual(whole(kept));
  // The operator keeps runs for 5 days, which is shorter than the workspace's time.
  await pass({ runsDays: 5 });
  expect(await tablesWith(kept)).toEqual(whole([]));
});

test("a workspace that keeps its runs longer keeps those that the pass has not deleted yet", async () => {
  const owner = await seedAgent(database);
  const keepFor = (days: number | null) =>
    query("update workspaces set run_retention_days = $2 where id = $1", [owner.workspaceId, days]);
  await keepFor(7);
  for (let count = 0; count < 3; count++) await addRun(database, owner, { createdAt: daysAgo(8) });
  const deleteSome = oldRuns(database.engine, { ...forever, runsDays: 30 }, new Date());
  for (let hasMore = true; hasMore; ) {
    const batch = await deleteSome?.(1);
    if (batch?.deleted.runs === 1) await keepFor(null);
    hasMore = batch?.hasMore === true;
  }
  const { rowCount } = await query("select from runs where workspace_id = $1", [owner.workspaceId]);
  expect(rowCount).toBe(2);
});

test("other rows are deleted after their own retention, each kind by its setting", async () => {
  const { workspaceId } = await seedAgent(database);
  await addDatedRows(database.engine, workspaceId, { label: "new", days: 29, count: 1 });
  // 120 rows need more than one batch.
  await addDatedRows(database.engine, workspaceId, { label: "old", days: 31, count: 120 });
  const left = async (table: string, column: string) =>
    (await query(`select ${column} as id from ${table} where ${column} ~ '^(usr_)?(old|new)'`))
      .rows;
  for (const [table, column, kind, retention] of [
    ["received_requests", "id", "received_requests", { requestsDays: 30 }],
    ["request_counts", "trigger_id", "request_counts", { requestsDays: 30 }],
    ["idempotency", "key", "idempotency", { idempotencyDays: 30 }],
    ["sessions", "id", "sessions", { sessionsDays: 30 }],
    ["invitations", "id", "invitations", { invitationsDays: 30 }],
    ["password_resets", "user_id", "password_links", { invitationsDays: 30 }],
  ] as const) {
    const before = await left(table, column);
    const deleted = await pass(retention);
    // Some tables share a setting. The pass for the first of these tables has then already deleted
    // the old rows of the second table, and the pass for the second table deletes none.
    if (before.length > 1) expect(deleted[kind], table).toBe(120);
    expect(await left(table, column), table).toHaveLength(1);
  }
  // Event ids are deleted when they expire, whatever the retention is.
  expect(await left("trigger_event_ids", "event_id")).toEqual([{ id: "new1" }]);
});

test("secrets of an agent that can no longer be restored are deleted, and those of its triggers", async () => {
  async function deletedAgent(days: number) {
    const agent = await seedAgent(database);
    const { triggerId } = await seedTrigger(database, agent);
    await query(
      "insert into agent_secrets (id, workspace_id, agent_id, origins, sealed, last4) values ($1, $2, $3, '{}', 'x', '')",
      [newId("sec"), agent.workspaceId, agent.agentId],
    );
    await query("update triggers set sender_secret = 'x', verify_token = 'x' where id = $1", [
      triggerId,
    ]);
    await query("update agents set deleted_at = now() - $2 * interval '24 hours' where id = $1", [
      agent.agentId,
      days,
    ]);
    return async () => {
      const { rows } = await query(
        `select sender_secret, verify_token,
          (select count(*)::int from agent_secrets s where s.agent_id = t.agent_id) as secrets
          from triggers t where id = $1`,
        [triggerId],
      );
      return rows[0];
    };
  }
  const recent = await deletedAgent(29);
  const old = await deletedAgent(31);
  expect(await pass({})).toEqual({ secrets: 2 });
  expect(await old()).toEqual({ sender_secret: null, verify_token: null, secrets: 0 });
  expect(await recent()).toEqual({ sender_secret: "x", verify_token: "x", secrets: 1 });
  expect(await pass({})).toEqual({});
  // Agents whose secrets were deleted are still read. Each batch continues after the one before.
  await deletedAgent(32);
  const deleteSome = secretsOfDeletedAgents(database.engine, forever, new Date());
  expect([await deleteSome?.(1), await deleteSome?.(1), await deleteSome?.(1)]).toEqual([
    { deleted: { secrets: 2 }, hasMore: true },
    { deleted: { secrets: 0 }, hasMore: true },
    { deleted: { secrets: 0 }, hasMore: false },
  ]);
});

test("old deliveries are deleted with their attempts, except pending ones", async () => {
  const owner = await seedAgent(database);
  const ids = {
    gone: await addDelivery(owner, { days: 31, status: "failed" }),
    pending: await addDelivery(owner, { days: 31, status: "pending" }),
    recent: await addDelivery(owner, { days: 29, status: "succeeded" }),
  };
  expect(await pass({ deliveriesDays: 30 })).toEqual({ deliveries: 1 });
  for (const [table, column] of [
    ["deliveries", "id"],
    ["delivery_attempts", "delivery_id"],
  ]) {
    const { rows } = await query(
      `select ${column} as id from ${table} where workspace_id = $1 order by 1`,
      [owner.workspaceId],
    );
    expect(rows, table).toEqual([{ id: ids.pending }, { id: ids.recent }]);
  }
});

test("old audit entries are deleted, an entry says so, and entries below 30 days cannot be", async () => {
  const { workspaceId } = await seedAgent(database);
  const add = (id: string, days: number) =>
    query(
      `insert into audit (id, workspace_id, time, actor, action, target, data)
        values ($1, $2, now() - make_interval(secs => $3), 'system', 'test', 'x', '{}')`,
      [id, workspaceId, days * 24 * 3_600],
    );
  for (const days of [380, 370, 366.5]) await add(idAt("aud", days), days);
  const recent = idAt("aud", 31);
  await add(recent, 31);
  const actions = async () =>
    (
      await query(
        "select action, target, actor, data from audit where workspace_id = $1 and action in ('test', 'audit.prune') order by id",
        [workspaceId],
      )
    ).rows;
  expect(await pass({ auditDays: 365 })).toEqual({ audit: 3 });
  expect(await actions()).toEqual([
    { action: "test", target: "x", actor: "system", data: {} },
    {
      action: "audit.prune",
      target: workspaceId,
      actor: "system",
      data: { deleted: 3, before: expect.stringMatching(/T00:00:00\.000Z$/) },
    },
  ]);
  expect(await pass({ auditDays: 365 })).toEqual({});
  await add("aud_recent", 29.9);
  await expect(query("delete from audit where id = 'aud_recent'")).rejects.toMatchObject({
    code: "23001",
    message: "rows of audit are kept for at least 30 days",
  });
  // The database allows the deletion of entries that are older than 30 days.
  expect((await query("delete from audit where id = $1", [recent])).rowCount).toBe(1);
  for (const change of ["update audit set actor = 'x'", "truncate audit"])
    await expect(query(change)).rejects.toMatchObject({ code: "23001" });
});

test("of two processes one deletes, until it exits; each row is deleted once", async () => {
  const owner = await seedAgent(database);
  const runIds: string[] = [];
  for (let count = 0; count < 150; count++)
    runIds.push(await addRun(database, owner, { createdAt: daysAgo(31) }));
  const left = async () =>
    (await query("select id from runs where id = any ($1)", [runIds])).rowCount ?? 0;
  const other = await seedProcess(database);

  const stopping = new AbortController();
  let besides: Promise<Record<string, number>> | undefined;
  const first = await pass(
    { runsDays: 30 },
    {
      signal: stopping.signal,
      // Tries to begin a pass of another process during this pass. It must do nothing.
      afterBatch() {
        besides ??= pass({ runsDays: 30 }, { processId: other });
      },
    },
  );
  expect(await besides).toEqual({});
  expect(first.runs).toBe(150);

  const again = await addRun(database, owner, { createdAt: daysAgo(31) });
  // The last pass has just finished, so none is due.
  expect(await pass({ runsDays: 30 }, { processId: other, intervalSeconds: 600 })).toEqual({});
  await query("update installation set pruning_process = $1", [ownId]);
  expect(await pass({ runsDays: 30 }, { processId: other })).toEqual({});
  await query("update processes set died_at = now() where id = $1", [ownId]);
  expect(await pass({ runsDays: 30 }, { processId: other })).toMatchObject({ runs: 1 });
  expect(await left()).toBe(0);
  expect((await query("select from runs where id = $1", [again])).rowCount).toBe(0);
  // A process that was declared dead must not delete anything.
  await addRun(database, owner, { createdAt: daysAgo(31) });
  expect(await pass({ runsDays: 30 })).toEqual({});
  await query("update processes set died_at = null where id = $1", [ownId]);
});

test("a pass begins although the last one finished while the database's clock was ahead", async () => {
  const owner = await seedAgent(database);
  const run = await addWholeRun(owner, { createdAt: daysAgo(31) });
  await query("update installation set pruned_at = now() + interval '10 days'");
  await pass({ runsDays: 30 }, { intervalSeconds: 600 });
  expect(await tablesWith([run])).toEqual(whole([]));
});

test("a pass that is stopped, or loses its connection in a batch, deletes runs whole or not at all", async () => {
  const owner = await seedAgent(database);
  await pass({ runsDays: 30 });
  const runIds: string[] = [];
  for (let count = 0; count < 120; count++)
    runIds.push(await addWholeRun(owner, { createdAt: daysAgo(31) }));
  const stopping = new AbortController();
  const { runs = 0 } = await pass(
    { runsDays: 30 },
    {
      signal: stopping.signal,
      afterBatch({ runs: deleted = 0 }) {
        if (deleted > 0) stopping.abort();
      },
    },
  );
  expect(runs).toBeGreaterThan(0);
  expect(runs).toBeLessThan(runIds.length);
  const { rows } = await query("select id from runs where id = any ($1)", [runIds]);
  const kept = rows.map((row) => row.id).sort();
  expect(kept).toHaveLength(runIds.length - runs);
  expect(await tablesWith(runIds)).toEqual(whole(kept));

  // Connects as the role that logs in, because it can end the connections of the server's role.
  const outside = connect({ url, poolSize: 4, role: undefined, log: createLog("silent") });
  onTestFinished(() => outside.close());
  const admin = await outside.engine.connect();
  await admin.query("begin");
  await admin.query("select from events where run_id = $1 for update", [kept[0]]);
  const lost = pass({ runsDays: 30 });
  lost.catch(() => {});
  // Waits until the lock on the event blocks the batch, then ends the connection of the batch.
  await eventually("a batch that waits", async () => {
    // Within a transaction, pg_stat_activity does not change until its snapshot is cleared.
    await admin.query("select pg_stat_clear_snapshot()");
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = $1 and wait_event_type = 'Lock' and query like 'with oldest as%'`,
      [name],
    );
    return rowCount === 1 ? true : undefined;
  });
  await expect(lost).rejects.toThrow();
  await admin.query("rollback");
  admin.release();
  expect(await tablesWith(runIds)).toEqual(whole(kept));
  expect(await pass({ runsDays: 30 })).toMatchObject({ runs: kept.length });
  expect(await tablesWith(runIds)).toEqual(whole([]));
});

test("a batch that PostgreSQL cancels is repeated with fewer rows, and later kinds are deleted", async () => {
  const owner = await seedAgent(database);
  for (let count = 0; count < 20; count++)
    await addRun(database, owner, { createdAt: daysAgo(31) });
  await query(
    `with secret as (
      insert into agent_secrets (id, workspace_id, agent_id, origins, sealed, last4)
      values ($1, $2, $3, '{}', 'x', ''))
    update agents set deleted_at = now() - 31 * interval '24 hours' where id = $3`,
    [newId("sec"), owner.workspaceId, owner.agentId],
  );
  await query(`create function cancel_many() returns trigger language plpgsql as $$ begin
    if (select count(*) from gone) > tg_argv[0]::int then raise query_canceled; end if;
    return null; end $$`);
  const cancelAbove = (rows: number) =>
    query(`create or replace trigger cancel_many after delete on runs
      referencing old table as gone for each statement execute function cancel_many(${rows})`);
  onTestFinished(async () => void (await query("drop function cancel_many cascade")));
  await cancelAbove(0);
  const { log, named } = captureLog();
  expect(await pass({ runsDays: 30 }, { log })).toEqual({ secrets: 1 });
  const cancelled = named("deleting old rows took too long").map((line) => line.max_rows);
  // Each of the 20 runs is left out once it was the only one of a batch.
  expect(cancelled.slice(0, 6)).toEqual([50, 25, 12, 6, 3, 1]);
  expect(cancelled.filter((maxRows) => maxRows === 1)).toHaveLength(20);
  await cancelAbove(5);
  expect(await pass({ runsDays: 30 })).toEqual({ runs: 20 });
});

test("a run that takes too long to delete is left to the next regular pass, and no other is", async () => {
  const owners = [await seedAgent(database), await seedAgent(database)];
  owners.sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
  const ids: string[] = [];
  for (const owner of owners)
    for (const days of [33, 32])
      ids.push(await addRun(database, owner, { createdAt: daysAgo(days) }));
  await query(`create function cancel_slow() returns trigger language plpgsql as $$ begin
    if old.id = '${ids[0]}' then raise sqlstate '25P04'; end if; -- transaction_timeout
    return old; end $$`);
  await query(`create trigger cancel_slow before delete on runs
    for each row execute function cancel_slow()`);
  onTestFinished(async () => void (await query("drop function if exists cancel_slow cascade")));
  expect(await pass({ runsDays: 30 })).toEqual({ runs: 3 });
  await query("drop function cancel_slow cascade");
  expect(await pass({ runsDays: 30 }, { intervalSeconds: 600 })).toEqual({});
  expect(await pass({ runsDays: 30 })).toEqual({ runs: 1 });
});

test("the first batch is small, however many workspaces without old runs come before", async () => {
  const owner = await seedAgent(database);
  await query(
    `insert into workspaces (id, name)
      select 'wsp_0' || lpad(n::text, 8, '0'), 'Test' from generate_series(1, 600) n`,
  );
  await query("update workspaces set run_retention_days = 30 where id = $1", [owner.workspaceId]);
  for (let count = 0; count < 60; count++)
    await addRun(database, owner, { createdAt: daysAgo(31) });
  const batches: number[] = [];
  await pass({}, { afterBatch: ({ runs = 0 }) => void batches.push(runs) });
  expect(batches.filter((runs) => runs > 0)).toEqual([50, 10]);
});
