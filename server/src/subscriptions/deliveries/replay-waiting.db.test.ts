import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { expectError } from "../../../test/expect-error.ts";
import { openClient } from "../../../test/open-client.ts";
import { startReceiver } from "../../../test/receiver.ts";

/** Tests replays of deliveries that wait for their next attempt after a failed one. */

const beckon = await startTestBeckon({ BECKON_RETRY_SCHEDULE: "0,3600,3600" });
/** A server that sends no deliveries, so that replayed deliveries stay pending. */
const quiet = await startTestBeckon({ BECKON_ROLE: "api" });
const { engine } = quiet.db.database;
const receiver = await startReceiver();
afterAll(() => receiver.close());

const since = "1970-01-01T00:00:00Z";

test("after an outage, a replay sends at once what waits for its next attempt", async () => {
  const agent = await beckon.createAgent();
  const { data } = (
    await beckon.call("/subscriptions", {
      body: { url: receiver.url, event_types: ["run.finished"], agent_ids: [agent.id] },
    })
  ).body;
  const path = `/subscriptions/${data.id}`;
  const deliveries = async () => (await beckon.call(`${path}/deliveries`)).body.data;
  receiver.respond = (_request, response) => response.writeHead(500).end();
  for (let n = 1; n <= 3; n++) await beckon.invoke(agent, "Hello");
  await eventually("three failed attempts", async () => {
    const all = await deliveries();
    return all.length === 3 && all.every(({ attempts }: { attempts: number }) => attempts === 1)
      ? true
      : undefined;
  });
  receiver.respond = (_request, response) => response.writeHead(204).end();
  const { body } = await beckon.call(`${path}/replay`, { body: { since } });
  expect(body.data).toMatchObject({ replayed: 3, more: false });
  await eventually("all are delivered", async () =>
    (await deliveries()).every(({ status }: { status: string }) => status === "succeeded")
      ? true
      : undefined,
  );
  const [{ id }] = await deliveries();
  // All attempts start over, and the log keeps the earlier ones.
  const shown = (await beckon.call(`${path}/deliveries/${id}`)).body.data;
  expect(shown.attempts).toBe(1);
  expect(shown.attempts_log.map(({ number }: { number: number }) => number)).toEqual([2, 1]);
});

/** A row of `deliveries`, as far as it differs from a delivery that waits for its next attempt. */
interface Row {
  readonly kind?: string;
  readonly status?: string;
  readonly attempts?: number;
  readonly claims?: number;
  /** Seconds from now. */
  readonly next?: number | null;
  readonly url?: string | null;
}

/**
 * Creates a subscription of the server that sends nothing, with a delivery per row, the oldest one
 * first.
 * @param times how often all rows are inserted
 */
async function subscriptionWith(rows: readonly Row[], times = 1) {
  const { data } = (
    await quiet.call("/subscriptions", {
      body: { url: "http://127.0.0.1:9/events", event_types: ["agent.paused"] },
    })
  ).body;
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
        status, attempts, claims, next_at, finished_at, callback_url, last_error)
      select 'dlv_01' || lpad((r.n * $3 + m)::text, 8, '0') || repeat('0', 16), s.workspace_id,
        s.id, coalesce(r.kind, 'event'), 'evt_' || r.n, 'agent.paused', 1,
        coalesce(r.status, 'pending'), coalesce(r.attempts, 1), coalesce(r.claims, 0),
        case when coalesce(r.status, 'pending') = 'pending'
          then now() + coalesce(r.next, 3600) * interval '1 second' end,
        case when r.status <> 'pending' then now() end, r.url, 'It failed.'
      from subscriptions s, rows from (json_to_recordset($2) as (kind text, status text,
        attempts int, claims int, next int, url text)) with ordinality
        as r (kind, status, attempts, claims, next, url, n), generate_series(1, $3::int) m
      where s.id = $1`,
    [data.id, JSON.stringify(rows), times],
  );
  const path = `/subscriptions/${data.id}`;
  return {
    id: data.id as string,
    path,
    replay: async (body: object = {}, headers: Record<string, string> = {}) =>
      quiet.call(`${path}/replay`, { body: { since, ...body }, headers }),
    /** The rows of the table, oldest first. */
    stored: async () =>
      (
        await engine.query<{ status: string; attempts: number; seconds: number | null }>(
          `select status, attempts, last_error, round(extract(epoch from next_at - now()))::int
              as seconds from deliveries where subscription_id = $1 order by id`,
          [data.id],
        )
      ).rows,
  };
}

test.each(["missed", "all"])(
  "a replay of %s leaves out what is due or being sent",
  async (which) => {
    const { replay, stored } = await subscriptionWith([
      { attempts: 3 },
      { attempts: 3, claims: 1, next: 45 },
      { attempts: 0, next: -60 },
      { attempts: 2, next: -60 },
      { kind: "test" },
      { kind: "callback", url: "http://127.0.0.1:9/callback" },
      { kind: "callback", url: "http://127.0.0.1:10/callback" },
      { status: "not_sent", attempts: 0 },
    ]);
    const before = await stored();
    expect((await replay({ which })).body.data).toMatchObject({ replayed: 3, more: false });
    const after = await stored();
    const again = { status: "pending", attempts: 0, last_error: null };
    for (const index of [0, 5, 7]) {
      expect(after[index]).toMatchObject(again);
      expect(after[index]?.seconds).toBeLessThanOrEqual(0);
    }
    for (const index of [1, 2, 3, 4, 6]) {
      const { status, attempts } = before[index] ?? {};
      expect(after[index]).toMatchObject({ status, attempts, last_error: "It failed." });
    }
    expect(after[1]?.seconds).toBeGreaterThan(30);
    expect((await replay({ which })).body.data.replayed).toBe(0);
  },
);

test("a replay leaves out what a sender claims at the same moment", async () => {
  const { id, replay, stored } = await subscriptionWith([{}]);
  const sender = await openClient(quiet.db.url);
  await sender.query("set beckon.workspace = '*'");
  await sender.query("begin");
  await sender.query(
    `update deliveries set claims = 1, next_at = now() + interval '45 seconds'
      where subscription_id = $1`,
    [id],
  );
  const replayed = replay();
  await eventually("the replay waits for the locked row", async () => {
    await sender.query("select pg_stat_clear_snapshot()");
    const { rowCount } = await sender.query(
      `select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query like '%update deliveries d%'`,
    );
    return rowCount === 1 ? true : undefined;
  });
  await sender.query("commit");
  await sender.end();
  expect((await replayed).body.data.replayed).toBe(0);
  const [row] = await stored();
  expect(row).toMatchObject({ status: "pending", attempts: 1 });
  expect(row?.seconds).toBeGreaterThan(30);
});

test("a replay repeated with its Idempotency-Key does not shorten a later wait", async () => {
  const { id, replay, stored } = await subscriptionWith([{}]);
  const headers = { "idempotency-key": "once" };
  const first = await replay({}, headers);
  expect(first.body.data.replayed).toBe(1);
  await engine.query(
    `update deliveries set attempts = 1, next_at = now() + interval '1 hour'
      where subscription_id = $1`,
    [id],
  );
  expect((await replay({}, headers)).body).toEqual(first.body);
  expect(await stored()).toMatchObject([{ attempts: 1, seconds: expect.closeTo(3_600, -2) }]);
});

test("a replay leaves out what waits but was created outside of its range", async () => {
  const { replay, stored } = await subscriptionWith([{}, {}]);
  const until = new Date(0).toISOString();
  expect((await replay({ until })).body.data).toEqual({
    replayed: 0,
    more: false,
    next_until: null,
  });
  expect(await stored()).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
});

test.each(["missed", "all"])(
  "a replay of %s in several requests sends nothing twice, although some has succeeded meanwhile",
  async (which) => {
    const ended = which === "missed" ? "failed" : "succeeded";
    const rows = [{}, {}, {}, ...Array<Row>(10_001).fill({ status: ended }), {}];
    const { id, replay } = await subscriptionWith(rows);
    const sent: string[] = [];
    let body: object = { which };
    for (let more = true; more; ) {
      const { data } = (await replay(body)).body;
      const { rows: due } = await engine.query<{ id: string }>(
        `update deliveries set status = 'succeeded', next_at = null, finished_at = now()
          where subscription_id = $1 and status = 'pending' and next_at <= now() returning id`,
        [id],
      );
      sent.push(...due.map((row) => row.id));
      more = data.more;
      body = { which, until: data.next_until };
    }
    expect(sent).toHaveLength(rows.length);
    expect(new Set(sent).size).toBe(rows.length);
  },
);

test("at the limit of pending deliveries, a replay ends before the first that would exceed it", async () => {
  const { replay, stored } = await subscriptionWith([
    {},
    { status: "failed" },
    { status: "failed" },
    {},
    ...Array<Row>(49_997).fill({ next: -60 }),
  ]);
  const { data } = (await replay()).body;
  expect(data).toMatchObject({ replayed: 2, more: true });
  const [oldest, left, again, newest] = await stored();
  expect(oldest?.seconds).toBeGreaterThan(0);
  expect(left).toMatchObject({ status: "failed" });
  expect(again).toMatchObject({ status: "pending" });
  expect(newest?.seconds).toBeLessThanOrEqual(0);
  expectError(await replay({ until: data.next_until }), 409, "conflict", /can be pending/);
});

test("at the limit of pending deliveries, a replay sends no part of a millisecond, and says what can be sent", async () => {
  const { id, replay, stored } = await subscriptionWith([
    ...Array<Row>(49_999).fill({ next: -60 }),
    { status: "succeeded" },
    { status: "succeeded" },
  ]);
  await engine.query(
    `update deliveries set id = 'dlv_0100099999' || lpad(substr(id, 7, 8), 16, '0')
      where subscription_id = $1 and status = 'succeeded'`,
    [id],
  );
  expectError(await replay({ which: "all" }), 409, "conflict", /Or replay only missed ones/);
  expect((await stored()).filter(({ status }) => status === "succeeded")).toHaveLength(2);
});

test("a replay makes more than 50,000 waiting deliveries due, in requests of 10,000", async () => {
  const { id, replay, stored } = await subscriptionWith([{}], 51_000);
  const replayed: number[] = [];
  let body: object = {};
  for (let more = true; more; ) {
    const { data } = (await replay(body)).body;
    replayed.push(data.replayed);
    more = data.more;
    body = { until: data.next_until };
  }
  expect(replayed).toEqual([10_000, 10_000, 10_000, 10_000, 10_000, 1_000]);
  expect((await stored()).filter(({ seconds }) => seconds === null || seconds > 0)).toEqual([]);
  // What is pending leaves no capacity for deliveries that have ended. Those that wait need none.
  const oldest = (n: number) =>
    `subscription_id = $1 and id = (select id from deliveries where subscription_id = $1
      order by id limit 1 offset ${n})`;
  await engine.query(
    `update deliveries set status = 'failed', next_at = null, finished_at = now()
      where ${oldest(0)}`,
    [id],
  );
  await engine.query(
    `update deliveries set attempts = 1, next_at = now() + interval '1 hour' where ${oldest(1)}`,
    [id],
  );
  const { data } = (await replay()).body;
  expect(data).toEqual({ replayed: 1, more: true, next_until: expect.any(String) });
  const rest = await replay({ until: data.next_until });
  expectError(rest, 409, "conflict", /50,000 deliveries .* can be pending/);
});
