import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { openClient } from "../../test/open-client.ts";
import { startReceiver } from "../../test/receiver.ts";
import { closeRestored } from "../deliveries/index.ts";

/** Tests the log of deliveries, and replays, over REST. A test server receives the deliveries. */

const beckon = await startTestBeckon();
/** A server that sends no deliveries, so that replayed deliveries stay pending. */
const quiet = await startTestBeckon({ BECKON_ROLE: "api" });
const receiver = await startReceiver();
afterAll(() => receiver.close());
const agent = await beckon.createAgent();

let count = 0;
/** Creates a subscription to `agent` with a path of its own at the receiver. */
async function subscribe(body: object = {}) {
  const url = `${receiver.url}-${++count}`;
  const { data } = (
    await beckon.call("/subscriptions", {
      body: { url, event_types: ["run.finished"], agent_ids: [agent.id], ...body },
    })
  ).body;
  const path = `/subscriptions/${data.id}`;
  return {
    id: data.id as string,
    path,
    received: () => receiver.received.filter((each) => url.endsWith(each.path)),
    act: (action: string, options: object = {}) =>
      beckon.call(`${path}/${action}`, { method: "POST", ...options }),
    list: async (query = "") => (await beckon.call(`${path}/deliveries${query}`)).body,
    get: async (id: string) => (await beckon.call(`${path}/deliveries/${id}`)).body.data,
    /** Waits until the newest delivery has this status. */
    newest: (status: string) =>
      eventually(`a delivery that is ${status}`, async () => {
        const [first] = (await beckon.call(`${path}/deliveries?limit=1`)).body.data;
        return first?.status === status ? first : undefined;
      }),
  };
}
const invoke = async () => (await beckon.invoke(agent, "Hello")).body.run_id as string;
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

describe("a delivery", () => {
  test("shows the body that was sent, and its attempts without secrets", async () => {
    const subscription = await subscribe({
      headers: { authorization: "Bearer receiver-password" },
    });
    const runId = await invoke();
    const { id } = await subscription.newest("succeeded");
    const shown = await subscription.get(id);
    const [received] = subscription.received();
    expect(shown).toMatchObject({
      subscription_id: subscription.id,
      kind: "event",
      event_id: received?.id,
      type: "run.finished",
      agent_id: agent.id,
      run_id: runId,
      status: "succeeded",
      attempts: 1,
      next_attempt_at: null,
      last_status: 204,
      last_error: null,
      body: received?.text,
    });
    expect(shown.attempts_log).toHaveLength(1);
    expect(shown.attempts_log[0]).toMatchObject({ number: 1, status: 204, error: null });
    expect(received?.headers.authorization).toBe("Bearer receiver-password");
    expect(JSON.stringify(shown)).not.toMatch(/receiver-password|webhook-signature|whsec_/);
    const { body } = await beckon.call(`/runs/${runId}/events/${shown.seq}`);
    expect(body.data).toMatchObject({ id: shown.event_id, data: received?.body.data.payload });
    expect(received?.body.data.url).toBe(
      `${beckon.url}/api/public/runs/${runId}/events/${shown.seq}`,
    );
  });

  test("of a workspace event has a URL that verifies it", async () => {
    const subscription = await subscribe({ event_types: ["agent.paused"], payload: "thin" });
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
    await subscription.newest("succeeded");
    const [received] = subscription.received();
    expect(received?.body.data).not.toHaveProperty("payload");
    const { body } = await beckon.call(received?.body.data.url);
    expect(body.data).toMatchObject({
      id: received?.id,
      type: "agent.paused",
      agent_id: agent.id,
      run_id: null,
      seq: null,
    });
  });

  test("of an event that is not there, or of no integer seq, is not found", async () => {
    const runId = await invoke();
    for (const seq of ["0", "99", "01", "-1", "1.5", "x", "99999999999"])
      expectError(await beckon.call(`/runs/${runId}/events/${seq}`), 404, "not_found");
    expectError(await beckon.call("/events/evt_none"), 404, "not_found");
  });
});

describe("a delivery that is pending", () => {
  test("shows the event's data once the payload is changed from thin to full", async () => {
    const { id: agentId } = await quiet.createAgent();
    const { data: subscription } = (
      await quiet.call("/subscriptions", {
        body: {
          url: "http://127.0.0.1:9/events",
          event_types: ["agent.paused"],
          agent_ids: [agentId],
          payload: "thin",
        },
      })
    ).body;
    const path = `/subscriptions/${subscription.id}`;
    await quiet.call(`/agents/${agentId}/pause`, { body: { reason: "Too slow" } });
    const [{ id }] = (await quiet.call(`${path}/deliveries`)).body.data;
    const dataOf = async () =>
      JSON.parse((await quiet.call(`${path}/deliveries/${id}`)).body.data.body).data;
    expect(await dataOf()).not.toHaveProperty("payload");
    await quiet.call(path, { method: "PATCH", body: { payload: "full" } });
    expect((await dataOf()).payload).toMatchObject({ reason: "Too slow" });
  });
});

describe("a test", () => {
  test("sends the documented example of the first type, or of the type that is given", async () => {
    const subscription = await subscribe({ event_types: ["run.failed", "run.finished"] });
    const { status, body } = await subscription.act("test");
    expect([status, body.data]).toMatchObject([
      201,
      { kind: "test", type: "run.failed", run_id: null, agent_id: null, status: "pending" },
    ]);
    await subscription.newest("succeeded");
    await subscription.act("test", { body: { type: "agent.paused" } });
    await eventually("both tests", () => subscription.received().length === 2 || undefined);
    const { data: document } = { data: (await beckon.call(`${beckon.url}/openapi.json`)).body };
    for (const [index, type] of ["run.failed", "agent.paused"].entries()) {
      const received = subscription.received()[index]?.body;
      const example =
        document.webhooks[type].post.requestBody.content["application/json"].examples.full.value;
      expect(received).toMatchObject({
        type,
        data: { test: true, url: null, payload: example.data.payload },
      });
      expect(received.data.run_id).toBe(example.data.run_id);
    }
  });

  test("repeated with its Idempotency-Key is sent once", async () => {
    const subscription = await subscribe();
    const headers = { "idempotency-key": "once" };
    const [first, again] = [
      await subscription.act("test", { headers }),
      await subscription.act("test", { headers }),
    ];
    expect(again.body).toEqual(first.body);
    expect((await subscription.list()).data).toHaveLength(1);
  });
});

describe("the log", () => {
  test("is filtered by status, type and run, and has pages", async () => {
    const subscription = await subscribe({ event_types: ["run.started", "run.finished"] });
    const [one, two] = [await invoke(), await invoke()];
    await eventually("four deliveries", async () =>
      (await subscription.list("?status=succeeded")).data.length === 4 ? true : undefined,
    );
    const runsOf = async (query: string) =>
      (await subscription.list(query)).data.map(({ run_id }: { run_id: string }) => run_id);
    expect(await runsOf("?type=run.finished")).toEqual([two, one]);
    expect(await runsOf(`?run_id=${one}`)).toEqual([one, one]);
    expect(await runsOf(`?run_id=${one}&type=run.started,run.failed`)).toEqual([one]);
    expect(await runsOf("?status=failed,not_sent,pending,cancelled")).toEqual([]);
    const first = await subscription.list("?limit=3");
    const rest = await subscription.list(`?limit=3&after=${first.next}`);
    expect([first.data.length, rest.data.length, rest.next]).toEqual([3, 1, null]);
    const all = [...first.data, ...rest.data].map(({ id }: { id: string }) => id);
    expect(all).toEqual([...new Set(all)].sort().reverse());
    const ofRun = await beckon.call(`/runs/${one}/deliveries?limit=200`);
    expect(
      ofRun.body.data.filter(
        ({ subscription_id }: { subscription_id: string }) => subscription_id === subscription.id,
      ),
    ).toHaveLength(2);
    for (const [name, value] of [
      ["status", "lost"],
      ["run_id", ""],
      ["run_id", "%00"],
    ] as const) {
      const answer = await beckon.call(`${subscription.path}/deliveries?${name}=${value}`);
      expectError(answer, 400, "bad_request", new RegExp(name));
    }
  });
});

describe("a replay", () => {
  test("sends the same id and body again, with a fresh timestamp and a next attempt number", async () => {
    const subscription = await subscribe();
    await invoke();
    const { id } = await subscription.newest("succeeded");
    const { status, body } = await subscription.act(`deliveries/${id}/replay`);
    expect([status, body.data]).toMatchObject([200, { id, status: "pending", attempts: 0 }]);
    await eventually("the second request", () => subscription.received().length > 1 || undefined);
    const [first, second] = subscription.received();
    expect([second?.id, second?.text]).toEqual([first?.id, first?.text]);
    await subscription.newest("succeeded");
    const { attempts, attempts_log } = await subscription.get(id);
    expect(attempts).toBe(1);
    expect(attempts_log.map(({ number }: { number: number }) => number)).toEqual([2, 1]);
  });

  test("takes what was not sent from the journal", async () => {
    const subscription = await subscribe({ event_types: ["run.finished", "agent.resumed"] });
    await subscription.act("pause");
    const runId = await invoke();
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
    const { data: notSent } = await subscription.list();
    expect(notSent).toMatchObject([{ status: "not_sent" }, { status: "not_sent", run_id: runId }]);
    const { id } = notSent[1];
    expect((await subscription.get(id)).body).toBeNull();
    expectError(
      await subscription.act(`deliveries/${id}/replay`),
      409,
      "conflict",
      /paused. Resume it first/,
    );
    const { body } = await subscription.act("resume");
    expect(body.data.missed).toEqual({ deliveries: 2, since: notSent[1].created_at });
    expect(subscription.received()).toEqual([]);
    const replay = await subscription.act("replay", { body: { since: body.data.missed.since } });
    expect(replay.body.data).toEqual({
      replayed: 2,
      more: false,
      next_until: notSent[1].created_at,
    });
    await eventually("both", () => subscription.received().length === 2 || undefined);
    const finished = subscription.received().find((each) => each.body.type === "run.finished");
    expect(finished?.body.data).toMatchObject({ run_id: runId, payload: { output: "Hello" } });
    const resumed = subscription.received().find((each) => each.body.type === "agent.resumed");
    expect(resumed?.body.data.payload.actor).toMatch(/^key:/);
  });

  test("shows no error of an earlier attempt, because all attempts start over", async () => {
    const { id: agentId } = await quiet.createAgent();
    const url = `${receiver.url}-restored`;
    const { data: subscription } = (
      await quiet.call("/subscriptions", {
        body: { url, event_types: ["agent.paused"], agent_ids: [agentId] },
      })
    ).body;
    await quiet.call(`/agents/${agentId}/pause`, { method: "POST" });
    await closeRestored(quiet.db.database);
    const path = `/subscriptions/${subscription.id}/deliveries`;
    const [notSent] = (await quiet.call(path)).body.data;
    expect(notSent).toMatchObject({
      status: "not_sent",
      last_error: "Beckon was restored from a backup.",
    });
    const { body } = await quiet.call(`${path}/${notSent.id}/replay`, { method: "POST" });
    expect(body.data).toMatchObject({ status: "pending", last_status: null, last_error: null });
  });

  test("of a deleted run fails, one by one, and is left out of a range", async () => {
    const subscription = await subscribe();
    const runId = await invoke();
    const { id } = await subscription.newest("succeeded");
    await beckon.call(`/runs/${runId}`, { method: "DELETE" });
    expect(await subscription.get(id)).toMatchObject({ body: null, status: "succeeded" });
    expectError(
      await subscription.act(`deliveries/${id}/replay`),
      409,
      "conflict",
      /run of this delivery was deleted/,
    );
    const { body } = await subscription.act("replay", {
      body: { since: yesterday(), which: "all" },
    });
    expect(body.data).toEqual({ replayed: 0, more: false, next_until: null });
  });

  test("of a range leaves out what succeeded, unless all is asked for", async () => {
    const subscription = await subscribe();
    await invoke();
    await subscription.newest("succeeded");
    const replay = async (which: string) =>
      (await subscription.act("replay", { body: { since: yesterday(), which } })).body.data
        .replayed;
    expect(await replay("missed")).toBe(0);
    expect(await replay("all")).toBe(1);
  });

  test("of a range leaves out callbacks to the server of an earlier URL", async () => {
    // No other subscription covers this agent. Otherwise the oldest one would sign the callback.
    const own = await beckon.createAgent();
    const subscription = await subscribe({ agent_ids: [own.id] });
    const headers = { "beckon-callback": `${receiver.origin}/callback` };
    await beckon.invoke(own, "Hello", headers);
    await eventually("the event and the callback", async () =>
      (await subscription.list("?status=succeeded")).data.length === 2 ? true : undefined,
    );
    const other = await startReceiver();
    const { status } = await beckon.call(subscription.path, {
      method: "PATCH",
      body: { url: other.url, secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` },
    });
    expect(status).toBe(200);
    const { body } = await subscription.act("replay", {
      body: { since: yesterday(), which: "all" },
    });
    expect(body.data).toMatchObject({ replayed: 1, more: false });
    const [received] = await other.awaitCount(1);
    expect(received?.path).toBe("/hook");
    await other.close();
  });

  test("of a range needs valid times", async () => {
    const subscription = await subscribe();
    for (const body of [{}, { since: "yesterday" }, { since: yesterday(), which: "some" }])
      expectError(await subscription.act("replay", { body }), 400, "bad_request");
  });
});

describe("many deliveries", () => {
  /** Inserts `number` deliveries that were not sent, `perMillisecond` in each millisecond. */
  async function missed(number: number, perMillisecond: number) {
    const { data } = (
      await quiet.call("/subscriptions", {
        body: { url: "http://127.0.0.1:9/events", event_types: ["agent.paused"] },
      })
    ).body;
    await quiet.db.database.engine.query(
      `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          status, finished_at)
        select 'dlv_01' || lpad((n / $3)::text, 8, '0') || lpad(n::text, 16, '0'), s.workspace_id,
          s.id, 'event', 'evt_' || n, 'agent.paused', 1, 'not_sent', now()
        from subscriptions s, generate_series(1, $2::int) n where s.id = $1`,
      [data.id, number, perMillisecond],
    );
    const path = `/subscriptions/${data.id}`;
    return {
      path,
      replay: (body: object = {}) =>
        quiet.call(`${path}/replay`, { body: { since: "1970-01-01T00:00:00Z", ...body } }),
    };
  }

  /** Counts the deliveries of a subscription by status. */
  const counted = async (path: string) =>
    (
      await quiet.db.database.engine.query(
        "select status, count(*)::int from deliveries where subscription_id = $1 group by status",
        [path.split("/").at(-1)],
      )
    ).rows;

  test("are replayed in requests of 10,000, newest first, each exactly once", async () => {
    const { path, replay } = await missed(25_000, 7);
    let until: string | undefined;
    const replayed: number[] = [];
    for (let more = true; more; ) {
      const { data } = (await replay(until === undefined ? {} : { until })).body;
      replayed.push(data.replayed);
      ({ more, next_until: until } = data);
    }
    expect(replayed.reduce((sum, each) => sum + each)).toBe(25_000);
    for (const each of replayed) expect(each).toBeLessThanOrEqual(10_000);
    expect(replayed).toHaveLength(3);
    const { health } = (await quiet.call(path)).body.data;
    expect(health.pending).toBe(25_000);
  });

  test("of one millisecond are not lost between two requests", async () => {
    const { replay } = await missed(12_000, 100_000);
    const first = (await replay()).body.data;
    expect(first).toMatchObject({ replayed: 10_000, more: true });
    const second = (await replay({ until: first.next_until })).body.data;
    expect(second).toMatchObject({ replayed: 2_000, more: false });
  });

  test("that are pending leave no capacity for a replay", async () => {
    const { path, replay } = await missed(50_001, 1);
    for (let more = true; more; ) {
      const { status, body } = await replay();
      if (status === 409) break;
      more = body.data.more;
    }
    expectError(await replay(), 409, "conflict", /50,000 deliveries .* can be pending/);
    expect((await quiet.call(path)).body.data.health.pending).toBe(50_000);
  });

  test("become not_sent when the subscription is paused, and cancelled when it is deleted", async () => {
    const { path, replay } = await missed(6_000, 1_000);
    await replay();
    const paused = await quiet.call(`${path}/pause`, { method: "POST" });
    expect(paused.status).toBe(200);
    expect(await counted(path)).toEqual([{ status: "not_sent", count: 6_000 }]);
    const resumed = await quiet.call(`${path}/resume`, { method: "POST" });
    expect(resumed.body.data.missed.deliveries).toBe(6_000);
    await replay();
    await quiet.call(path, { method: "DELETE" });
    expect(await counted(path)).toEqual([{ status: "cancelled", count: 6_000 }]);
  });

  test("are cancelled also if the planner's statistics lack their subscription", async () => {
    const pending = async () => {
      const { path } = await missed(30_000, 1_000);
      await quiet.db.database.engine.query(
        `update deliveries set status = 'pending', next_at = now(), finished_at = null
          where subscription_id = $1`,
        [path.split("/").at(-1)],
      );
      return path;
    };
    await pending();
    const owner = await openClient(quiet.db.url);
    await owner.query("alter table deliveries set (autovacuum_enabled = off)");
    await owner.query("analyze deliveries");
    await owner.end();
    const path = await pending();
    expect((await quiet.call(path, { method: "DELETE" })).status).toBe(204);
    expect(await counted(path)).toEqual([{ status: "cancelled", count: 30_000 }]);
  });

  test("do not fail a delete whose connection is lost after its commit", async () => {
    const { path, replay } = await missed(1, 1);
    await replay();
    const owner = await openClient(quiet.db.url);
    await owner.query("set beckon.workspace = '*'");
    await owner.query("begin");
    await owner.query("select 1 from deliveries where status = 'pending' for update");
    const deleted = quiet.call(path, { method: "DELETE" });
    await eventually("the delete waits for the locked row, and loses its connection", async () => {
      await owner.query("select pg_stat_clear_snapshot()");
      const { rowCount } = await owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like 'with picked as%'`,
      );
      return rowCount === 1 ? true : undefined;
    });
    await owner.query("rollback");
    await owner.end();
    expect((await deleted).status).toBe(204);
    expectError(await quiet.call(path), 404, "not_found");
  });

  test("are all cancelled although another transaction changes some of them meanwhile", async () => {
    const { path, replay } = await missed(6_000, 1_000);
    await replay();
    const owner = await openClient(quiet.db.url);
    await owner.query("set beckon.workspace = '*'");
    await owner.query("begin");
    const id = path.split("/").at(-1);
    // Locks all rows, so that the delete waits for the first one, and changes some of them: the
    // delete must also cancel those.
    await owner.query("select 1 from deliveries where subscription_id = $1 for update", [id]);
    await owner.query(
      `update deliveries set next_at = now() + interval '1 hour'
        where subscription_id = $1 and id like '%00'`,
      [id],
    );
    const deleted = quiet.call(path, { method: "DELETE" });
    await eventually("the delete waits for a locked row", async () => {
      await owner.query("select pg_stat_clear_snapshot()");
      const { rowCount } = await owner.query(
        `select from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock' and query like 'with picked as%'`,
      );
      return rowCount === 1 ? true : undefined;
    });
    await owner.query("commit");
    await owner.end();
    expect((await deleted).status).toBe(204);
    expect(await counted(path)).toEqual([{ status: "cancelled", count: 6_000 }]);
  });

  test("are searched in limited pages", async () => {
    const { path } = await missed(15_000, 1_000);
    const query = `${path}/deliveries?type=run.finished`;
    const first = (await quiet.call(query)).body;
    expect([first.data, typeof first.next]).toEqual([[], "string"]);
    const second = (await quiet.call(`${query}&after=${first.next}`)).body;
    expect(second).toMatchObject({ data: [], next: null });
  });
});
