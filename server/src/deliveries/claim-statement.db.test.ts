import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { claimDeliveries } from "./claim-statement.ts";

/** One connection, so that it reports what it has read to the statistics. */
const { database } = await testDatabase({ poolSize: 1 });
const { workspaceId } = await seedAgent(database);
const { engine } = database;
const limits = {
  max: 10,
  maxFailing: 10,
  maxOfOne: { event: 10, callback: 10, test: 10 },
  leaseSeconds: 45,
};
/** Claims all deliveries that are due. */
const claim = async () => (await claimDeliveries(database, { ...limits, busy: [] })).claimed;

test("claims of processes that exited use up no attempt, and each lease is longer", async () => {
  const { id } = await subscribe(engine, undefined, { url: "https://example.com/", workspaceId });
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
        status, next_at)
      values ('dlv_lost', $1, $2, 'event', 'evt_lost', 'run.finished', 1, 'pending', now())`,
    [workspaceId, id],
  );
  const leases: number[] = [];
  for (let lost = 0; lost < 12; lost++) {
    const [delivery] = await claim();
    expect(delivery).toMatchObject({ id: "dlv_lost", attempts: 1 });
    const { rows } = await engine.query(
      `select attempts, extract(epoch from next_at - now())::float8 as lease from deliveries
        where subscription_id = $1`,
      [id],
    );
    await engine.query("update deliveries set next_at = now() where subscription_id = $1", [id]);
    expect(rows[0].attempts).toBe(0);
    leases.push(rows[0].lease);
  }
  const factors = leases.map((lease) => Math.round(lease / 45));
  expect(factors).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
  await engine.query("update subscriptions set deleted_at = now() where id = $1", [id]);
});

test("a claim does not wait for deliveries that another process is claiming", async () => {
  const own = await testDatabase();
  const { workspaceId: workspace } = await seedAgent(own.database);
  const { id } = await subscribe(own.database.engine, undefined, { url: "https://example.com/" });
  await own.database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
        status, next_at)
      select 'dlv_' || n, $1, $2, 'event', 'evt_' || n, 'run.finished', 1, 'pending', now()
      from generate_series(1, 2) n`,
    [workspace, id],
  );
  const other = await own.database.engine.connect();
  onTestFinished(() => other.release(true));
  await other.query("begin");
  await other.query(
    "select from deliveries where subscription_id = $1 and id = 'dlv_1' for no key update",
    [id],
  );
  const claimIds = async () => {
    const { claimed } = await claimDeliveries(own.database, { ...limits, busy: [] });
    return claimed.map((delivery) => delivery.id);
  };
  expect(await claimIds()).toEqual(["dlv_2"]);
  await other.query("rollback");
  expect(await claimIds()).toEqual(["dlv_1"]);
});

test("a claim returns the data of small deliveries only, and the size of all", async () => {
  const { id } = await subscribe(engine, undefined, {
    url: "https://example.com/events",
    workspaceId,
  });
  const data = { small: "x".repeat(1_000), large: "x".repeat(60_000) };
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      select 'dlv_' || key, $1, $2, 'event', 'evt_' || key, 'run.finished', 1,
        jsonb_build_object('output', value), 'pending', now()
      from jsonb_each_text($3)`,
    [workspaceId, id, JSON.stringify(data)],
  );
  const claimed = await claim();
  const json = JSON.stringify({ output: data.small }).replace(":", ": ");
  expect(claimed).toMatchObject([
    { id: "dlv_large", data: null, data_bytes: json.length + 59_000 },
    { id: "dlv_small", data: json, data_bytes: json.length },
  ]);
});

test("a process that has claimed events of a receiver that requests a delay releases these only", async () => {
  const { id } = await subscribe(engine, undefined, { url: "https://example.com/", workspaceId });
  const lanesToRelease = async () => {
    const busy = (["event", "callback", "test"] as const).map((kind) => ({
      lane: kind,
      subscriptionId: id,
      kind,
      claimed: 1,
      version: 1,
    }));
    return (await claimDeliveries(database, { ...limits, busy })).changed;
  };
  expect(await lanesToRelease()).toEqual([]);
  const set = "update subscriptions set not_before = now() + $2 * interval '1 s' where id = $1";
  await engine.query(set, [id, 60]);
  expect(await lanesToRelease()).toEqual(["event"]);
  await engine.query(set, [id, -60]);
  expect(await lanesToRelease()).toEqual([]);
});

test("while events of a subscription fail, its callbacks are claimed as before", async () => {
  await engine.query("delete from deliveries");
  const { id } = await subscribe(engine, undefined, { url: "https://example.com/", workspaceId });
  await engine.query("update subscriptions set failing_since = now() where id = $1", [id]);
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, callback_url, event_id, type,
        version, status, next_at)
      select 'dlv_' || kind || n, $1, $2, kind, case kind when 'callback' then 'https://example.com/1' end,
        'evt_' || n, 'run.finished', 1, 'pending', now()
      from generate_series(1, 3) n, unnest(array['event', 'callback']) kind`,
    [workspaceId, id],
  );
  expect((await claim()).map(({ kind, is_failing }) => [kind, is_failing])).toEqual([
    ...Array.from({ length: 3 }, () => ["callback", false]),
    ["event", true],
  ]);
});

test("a claim reads no more deliveries of a receiver than it can claim of it", async () => {
  await engine.query("delete from deliveries");
  for (let receiver = 0; receiver < 10; receiver++) {
    const { id } = await subscribe(engine, undefined, {
      url: "https://example.com/events",
      workspaceId,
    });
    await engine.query(
      `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          data, status, next_at)
        select 'dlv_' || n, $1, $2, 'event', 'evt_' || n, 'run.finished', 1, '{}', 'pending', now()
        from generate_series(1, 100) n`,
      [workspaceId, id],
    );
  }
  const readRows = async () => {
    await engine.query("select pg_stat_force_next_flush()");
    const { rows } = await engine.query<{ read: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables
        where relname = 'deliveries'`,
    );
    return rows[0]?.read ?? Number.NaN;
  };
  const before = await readRows();
  const { claimed } = await claimDeliveries(database, {
    ...limits,
    busy: [],
    max: 4,
    maxOfOne: { ...limits.maxOfOne, event: 40 },
  });
  expect(new Set(claimed.map((each) => each.subscription_id)).size).toBe(4);
  // Otherwise it would be more than 400: 40 for each receiver.
  expect((await readRows()) - before).toBeLessThan(50);
});
