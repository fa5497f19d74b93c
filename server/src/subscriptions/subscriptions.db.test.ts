// This file is long because all operations on subscriptions are tested on one server.
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { openClient } from "../../test/open-client.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";
import { inWorkspace } from "../base/database/index.ts";
import { timeOf } from "../base/ids.ts";
import { countMissed } from "./deliveries/index.ts";

const beckon = await startTestBeckon({ BECKON_EGRESS_ALLOW: "localhost:9" });
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const { engine } = beckon.db.database;

/** No server listens at this address. The setting BECKON_EGRESS_ALLOW above lets Beckon call it. */
const nowhere = "http://127.0.0.1:9/events";
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const header = { authorization: "Bearer receiver-password" };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const create = (body: object = {}, headers = {}) =>
  beckon.call("/subscriptions", {
    body: { url: nowhere, event_types: ["run.finished"], ...body },
    headers,
  });
const created = async (body: object = {}) => (await create(body)).body.data;
const at = (id: string) => `/subscriptions/${id}`;
const change = (id: string, body: unknown, headers = {}) =>
  beckon.call(at(id), { method: "PATCH", body, headers });
const remove = (id: string, headers = {}) => beckon.call(at(id), { method: "DELETE", headers });
const reveal = async (id: string) => (await beckon.call(`${at(id)}/secret`)).body.data.secret;

describe("creating a subscription", () => {
  test("answers with all of it and the secret, but without the values of its headers", async () => {
    const { status, body, headers } = await create({
      url: "HTTP://127.0.0.1:9/a/../events?shop=1",
      description: "Orders",
      event_types: ["run.finished", "run.failed", "run.finished"],
      agent_ids: [agent.id],
      trigger_ids: [trigger.id],
      tags: ["billing"],
      payload: "thin",
      format: "cloudevents",
      secret,
      headers: { "X-Shop": "1", ...header },
    });
    expect(status).toBe(201);
    const { secret: shown, ...subscription } = body.data;
    expect(shown).toBe(secret);
    expect(subscription).toEqual({
      id: expect.stringMatching(/^sub_[0-9a-z]{26}$/),
      version: 1,
      url: "http://127.0.0.1:9/events?shop=1",
      description: "Orders",
      event_types: ["run.finished", "run.failed"],
      agent_ids: [agent.id],
      trigger_ids: [trigger.id],
      tags: ["billing"],
      payload: "thin",
      format: "cloudevents",
      header_names: ["X-Shop", "authorization"],
      status: "enabled",
      disabled_reason: null,
      inactive_since: null,
      previous_secret_until: null,
      health: {
        last_success_at: null,
        last_failure_at: null,
        failing_since: null,
        last_error: null,
        pending: 0,
        next_attempt_at: null,
        failed: 0,
      },
      created_by: expect.stringMatching(/^key:key_/),
      created_at: time,
      updated_at: time,
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBe('"1"');
    const location = new URL(headers.get("location") ?? "", beckon.url).href;
    expect((await beckon.call(location)).body.data).toEqual(subscription);
  });

  test("generates a secret of 32 bytes", async () => {
    const { id, secret: generated } = await created();
    expect(generated).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await reveal(id)).toBe(generated);
    expect((await created()).secret).not.toBe(generated);
  });

  test("repeated with its Idempotency-Key adds nothing and answers with the same secret", async () => {
    const key = { "idempotency-key": "once" };
    const [first, again] = [await create({}, key), await create({}, key)];
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
  });

  test.each([
    ["ftp://example.com", /url/],
    ["https://user@example.com", /url/],
    ["https://user:password@example.com", /url/],
    ["https://example.com/#part", /url/],
    ["example.com", /url/],
    [`https://example.com/${"a".repeat(2_000)}`, /url/],
  ])("rejects the URL %s", async (url, message) => {
    expectError(await create({ url }), 400, "bad_request", message);
  });

  test.each([
    ["http://127.0.0.1:10/events", "127.0.0.1:10"],
    ["http://10.0.0.1/events", "10.0.0.1:80"],
    ["https://169.254.169.254/latest", "169.254.169.254:443"],
    ["https://[::1]/events", "[::1]:443"],
  ])("rejects the private address %s with the setting that allows it", async (url, hostPort) => {
    const answer = await create({ url });
    expectError(answer, 400, "bad_request", /^url: /);
    expect(answer.body.error).toContain(`add ${hostPort} to BECKON_EGRESS_ALLOW `);
  });

  test.each([
    "Host",
    "content-type",
    "Content-Length",
    "Accept-Encoding",
    "Transfer-Encoding",
    "connection",
    "webhook-id",
    "Webhook-Signature",
    "webhook-anything",
    "user-agent",
    "Expect",
    "proxy-authorization",
  ])("rejects the header %s, which is reserved", async (name) => {
    const answer = await create({ headers: { [name]: "1" } });
    expectError(answer, 400, "bad_request", new RegExp(`headers\\.${name}`));
  });

  test.each([
    [{ "a b": "1" }, /headers\.a b/],
    [{ "": "1" }, /headers/],
    [{ shop: "1\r\nhost: evil" }, /headers\.shop/],
    [{ shop: "Zürich" }, /headers\.shop/],
    [{ shop: 1 }, /headers\.shop/],
    [{ shop: "1", Shop: "2" }, /same header twice/],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "1"])), /at most 20/],
  ])("rejects the headers %j", async (headers, message) => {
    expectError(await create({ headers }), 400, "bad_request", message);
  });

  test.each([
    "whsec_",
    secret.slice("whsec_".length),
    `whsec_${Buffer.alloc(23).toString("base64")}`,
    `whsec_${Buffer.alloc(65).toString("base64")}`,
    "whsec_not base64 at all, but long enough",
  ])("rejects the secret %s without repeating it", async (given) => {
    const answer = await create({ secret: given });
    expectError(answer, 400, "bad_request", /secret must be whsec_/);
    if (given.length > 10) expect(answer.body.error).not.toContain(given);
  });

  test("rejects unknown agents and triggers, and names them", async () => {
    const deleted = await beckon.createAgent();
    await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
    const agents = await create({ agent_ids: [agent.id, deleted.id, "agt_none"] });
    expectError(agents, 400, "bad_request", /^agent_ids: /);
    expect(agents.body.error).toContain(`"${deleted.id}", "agt_none"`);
    expect(agents.body.error).not.toContain(agent.id);
    const triggers = await create({ trigger_ids: ["trg_none", trigger.id] });
    expectError(triggers, 400, "bad_request", /^trigger_ids: there are no triggers "trg_none"/);
  });

  test.each([
    [{ event_types: [] }, /event_types/],
    [{ event_types: ["run.step"] }, /event_types/],
    [{ agent_ids: [] }, /agent_ids/],
    [{ tags: [] }, /tags/],
    [{ payload: "some" }, /payload/],
    [{ format: "xml" }, /format/],
    [{ description: "a".repeat(501) }, /description/],
  ])("rejects %j", async (body, message) => {
    expectError(await create(body), 400, "bad_request", message);
  });
});

describe("changing a subscription", () => {
  test("changes what is sent and keeps the rest", async () => {
    const { secret: _, ...before } = await created({ agent_ids: [agent.id], headers: header });
    const body = {
      url: "http://127.0.0.1:9/other",
      description: "New",
      event_types: ["agent.paused"],
      agent_ids: null,
      payload: "thin",
    };
    const answer = await change(before.id, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("etag")).toBe('"2"');
    expect(answer.body.data).toEqual({ ...before, ...body, version: 2, updated_at: time });
    expect((await beckon.call(at(before.id))).body).toEqual(answer.body);
  });

  test("that another request has changed meanwhile fails, and changes nothing", async () => {
    const { id } = await created();
    expect((await change(id, { description: "First" }, { "if-match": '"1"' })).status).toBe(200);
    const stale = { "if-match": '"1"' };
    expectError(await change(id, { description: "Second" }, stale), 412, "stale", /version 2/);
    expectError(await remove(id, stale), 412, "stale", /version 2/);
    expect((await beckon.call(at(id))).body.data.description).toBe("First");
    expect((await remove(id, { "if-match": '"2"' })).status).toBe(204);
  });

  test.each(["https://127.0.0.1:9/events", "http://localhost:9/events", "https://example.com"])(
    "to the server %s needs the secret and the headers again",
    async (url) => {
      const { id } = await created({ url: "http://127.0.0.1:9/", secret, headers: header });
      for (const [body, message] of [
        [{}, /^secret, headers: .*was not given for/],
        [{ secret }, /^headers: .*was not given for/],
        [{ headers: header }, /^secret: .*was not given for/],
      ] as const)
        expectError(await change(id, { url, ...body }), 400, "bad_request", message);
      expect(await reveal(id)).toBe(secret);
      const moved = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
      const answer = await change(id, { url, secret: moved, headers: {} });
      expect(answer.body.data).toMatchObject({ header_names: [], version: 2 });
      expect(await reveal(id)).toBe(moved);
    },
  );

  test("ends the overlap of a rotated secret when it moves to another server", async () => {
    const { id } = await created();
    await beckon.call(`${at(id)}/rotate`, { method: "POST" });
    const answer = await change(id, { url: "https://example.com/", secret });
    expect(answer.body.data.previous_secret_until).toBeNull();
    const { rows } = await engine.query("select previous_secret from subscriptions where id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ previous_secret: null }]);
  });

  test("rejects a secret without another server, and says to rotate", async () => {
    const { id } = await created();
    expectError(await change(id, { secret }), 400, "bad_request", /rotate/);
    const same = { url: "http://127.0.0.1:9/other", secret };
    expectError(await change(id, same), 400, "bad_request", /rotate/);
  });

  test("to another server succeeds again if its response was lost and the client repeats it", async () => {
    const { id } = await created();
    const moved = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
    const body = { url: "https://example.com/", secret: moved, headers: header };
    for (const version of [2, 3]) {
      const answer = await change(id, body);
      expect([answer.status, answer.body.data?.version]).toEqual([200, version]);
    }
    expect(await reveal(id)).toBe(moved);
    expectError(await change(id, { ...body, secret }), 400, "bad_request", /rotate/);
    expectError(await change(id, { secret: moved }), 400, "bad_request", /rotate/);
  });

  test("with the current secret keeps the overlap of a rotated one", async () => {
    const { id } = await created();
    const { body } = await beckon.call(`${at(id)}/rotate`, { method: "POST" });
    const same = { url: "http://127.0.0.1:9/other", secret: body.data.secret };
    const answer = await change(id, same);
    expect(answer.body.data?.previous_secret_until).toBe(body.data.previous_secret_until);
  });

  test("replaces the headers as a whole", async () => {
    const { id } = await created({ headers: header });
    const answer = await change(id, { headers: { "x-shop": "1" } });
    expect(answer.body.data.header_names).toEqual(["x-shop"]);
  });

  test("accepts agents that were deleted since, and no other unknown ones", async () => {
    const other = await beckon.createAgent();
    const { id } = await created({ agent_ids: [agent.id, other.id] });
    await beckon.call(`/agents/${other.id}`, { method: "DELETE" });
    expect((await change(id, { agent_ids: [other.id, agent.id] })).status).toBe(200);
    expectError(
      await change(id, { agent_ids: [other.id, "agt_none"] }),
      400,
      "bad_request",
      /"agt_none"/,
    );
  });

  test("to a private address is rejected with the setting that allows it", async () => {
    const { id } = await created();
    const answer = await change(id, { url: "http://127.0.0.1:10/events", secret });
    expectError(answer, 400, "bad_request", /add 127\.0\.0\.1:10 to BECKON_EGRESS_ALLOW /);
  });
});

describe("the secret", () => {
  test("is replaced by a rotation, and the previous one overlaps for a day", async () => {
    const { id, secret: first } = await created();
    const { body, headers } = await beckon.call(`${at(id)}/rotate`, { method: "POST" });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body.data.secret).toMatch(/^whsec_/);
    expect(body.data.secret).not.toBe(first);
    const until = Date.parse(body.data.previous_secret_until);
    expect(until).toBeGreaterThan(Date.now() + 86_000_000);
    expect(until).toBeLessThan(Date.now() + 86_500_000);
    expect(await reveal(id)).toBe(body.data.secret);
  });

  test("can be given, and replaced without an overlap", async () => {
    const { id } = await created();
    const { body } = await beckon.call(`${at(id)}/rotate`, { body: { secret, grace_seconds: 0 } });
    expect(body.data).toMatchObject({ secret, previous_secret_until: null });
  });

  test("is in no other response, and neither secret nor headers are in the audit log", async () => {
    const subscription = await created({ headers: header, secret });
    const path = at(subscription.id);
    const answers = [
      await beckon.call("/subscriptions?limit=200"),
      await beckon.call(path),
      await change(subscription.id, { description: "New", headers: header }),
      await beckon.call(`${path}/pause`, { method: "POST" }),
      await beckon.call(`${path}/resume`, { method: "POST" }),
      await beckon.call(`${path}/deliveries`),
    ];
    await beckon.call(`${path}/secret`);
    await beckon.call(`${path}/rotate`, { body: { secret } });
    await change(subscription.id, { url: "https://example.com", secret, headers: header });
    answers.push(await beckon.call(`/audit?limit=200&target=${subscription.id}`));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toMatch(/receiver-password|whsec_|v1\.[0-9a-f]{8}\./);
    }
    const actions = answers.at(-1)?.body.data.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(
      ["update", "rotate", "reveal", "resume", "pause", "update", "create"].map(
        (name) => `subscription.${name}`,
      ),
    );
  });

  test("and the headers are encrypted in the database", async () => {
    await created({ headers: header, secret });
    const { rows } = await engine.query<{ found: number }>(
      "select count(*)::int as found from subscriptions s where s::text ~ 'receiver-password|whsec_'",
    );
    expect(rows[0]?.found).toBe(0);
  });

  test("cannot be decrypted for another URL, not even by writing to the database", async () => {
    const { id } = await created();
    await engine.query("update subscriptions set url = 'https://evil.example/' where id = $1", [
      id,
    ]);
    expectError(await beckon.call(`${at(id)}/secret`), 409, "secret_unreadable", /rotate/);
  });
});

describe("a paused subscription", () => {
  test("shows since when, and resumes", async () => {
    const { id } = await created();
    const paused = await beckon.call(`${at(id)}/pause`, { method: "POST" });
    expect(paused.body.data).toMatchObject({ status: "paused", inactive_since: time, version: 2 });
    const again = await beckon.call(`${at(id)}/pause`, { method: "POST" });
    expect(again.body).toEqual(paused.body);
    const resumed = await beckon.call(`${at(id)}/resume`, { method: "POST" });
    expect(resumed.body.data).toMatchObject({
      status: "enabled",
      inactive_since: null,
      missed: { deliveries: 0, since: null },
    });
    const twice = await beckon.call(`${at(id)}/resume`, { method: "POST" });
    expect(twice.body).toEqual(resumed.body);
  });

  test("does not count deliveries of deleted runs as missed, because nothing can replay them", async () => {
    const { id } = await created();
    await beckon.call(`${at(id)}/pause`, { method: "POST" });
    const { run_id: runId } = (await beckon.invoke(agent, "Hello")).body;
    await beckon.call(`/runs/${runId}`, { method: "DELETE" });
    const { body } = await beckon.call(`${at(id)}/resume`, { method: "POST" });
    expect(body.data.missed).toEqual({ deliveries: 0, since: null });
  });

  test("shows the oldest missed delivery, even if there are more than are counted", async () => {
    const { id } = await created();
    await beckon.call(`${at(id)}/pause`, { method: "POST" });
    // The oldest of the 100,001 deliveries failed. All others were not sent.
    await engine.query(
      `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          status, finished_at)
        select 'dlv_01' || lpad(n::text, 8, '0') || repeat('0', 16), workspace_id, id, 'event',
          'evt_' || n, 'run.finished', 1, case n when 1 then 'failed' else 'not_sent' end, now()
        from subscriptions, generate_series(1, 100001) n where id = $1`,
      [id],
    );
    const { body } = await beckon.call(`${at(id)}/resume`, { method: "POST" });
    const oldest = timeOf(`dlv_0100000001${"0".repeat(16)}`).toISOString();
    expect(body.data.missed).toEqual({ deliveries: 100_000, since: oldest });
  });

  test("counts what it missed without reading what it missed at an earlier time", async () => {
    const { id } = await created();
    const { rows } = await engine.query(
      `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          status, finished_at)
        select 'dlv_01' || lpad(n::text, 8, '0') || repeat('0', 16), workspace_id, id, 'event',
          'evt_' || n, 'run.finished', 1, 'not_sent',
          now() - case when n > 10000 then interval '0' else interval '1 day' end
        from subscriptions, generate_series(1, 10003) n where id = $1
        returning workspace_id`,
      [id],
    );
    const owner = await openClient(beckon.db.url);
    await owner.query("analyze deliveries");
    await owner.end();
    const workspace_id: string = rows[0]?.workspace_id;
    const { missed, read } = await inWorkspace(
      beckon.db.database.tenant,
      workspace_id,
      async (tx) => {
        const since = { inactiveSince: new Date(Date.now() - 3_600_000), failingSince: null };
        const counted = await countMissed(tx, { id, workspace_id, url: nowhere }, since);
        const { rows: figures } = await sql<{ read: number }>`
          select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
          where relname = 'deliveries'`.execute(tx);
        return { missed: counted, read: figures[0]?.read };
      },
    );
    expect(missed).toEqual({ deliveries: 3, oldest: `dlv_0100010001${"0".repeat(16)}` });
    expect(read).toBe(3);
  });

  test("sends no test and replays nothing", async () => {
    const { id } = await created();
    await beckon.call(`${at(id)}/pause`, { method: "POST" });
    const since = "2026-01-01T00:00:00Z";
    for (const [path, body] of [
      ["test", {}],
      ["replay", { since }],
    ] as const)
      expectError(
        await beckon.call(`${at(id)}/${path}`, { body }),
        409,
        "conflict",
        /paused. Resume it first/,
      );
  });
});

describe("a deleted subscription", () => {
  test("cannot be found any more, and has no secrets", async () => {
    const { id } = await created({ headers: header });
    expect((await remove(id)).status).toBe(204);
    for (const [path, method] of [
      ["", "GET"],
      ["", "DELETE"],
      ["/secret", "GET"],
      ["/deliveries", "GET"],
      ["/resume", "POST"],
    ] as const)
      expectError(await beckon.call(at(id) + path, { method }), 404, "not_found");
    const { rows } = await engine.query(
      "select secret, previous_secret, headers from subscriptions where id = $1",
      [id],
    );
    expect(rows).toEqual([{ secret: "", previous_secret: null, headers: null }]);
  });
});

describe("a list of subscriptions", () => {
  test("is newest first, in pages", async () => {
    const [first, second] = [await created(), await created()];
    const page = await beckon.call("/subscriptions?limit=1");
    expect(page.body.data.map(({ id }: { id: string }) => id)).toEqual([second.id]);
    const next = await beckon.call(`/subscriptions?limit=1&after=${page.body.next}`);
    expect(next.body.data.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  });
});

test("a workspace has at most 50 subscriptions, also if they are created at the same time", async () => {
  const { data: workspace } = (await beckon.call("/workspaces", { body: { name: "Full" } })).body;
  const add = () =>
    repeatUnavailable(() =>
      beckon.call("/subscriptions", {
        credential: workspace.key,
        body: { url: nowhere, event_types: ["run.finished"] },
      }),
    );
  const answers = await Promise.all(Array.from({ length: 60 }, add));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
  const rejected = answers.filter(({ status }) => status !== 201);
  expect(rejected).toHaveLength(10);
  for (const answer of rejected)
    expectError(answer, 409, "conflict", /50 subscriptions.*Delete one first/);
  const list = await beckon.call("/subscriptions?limit=200", { credential: workspace.key });
  expect(list.body.data).toHaveLength(50);
  const one = `/subscriptions/${list.body.data[0].id}`;
  await beckon.call(one, { method: "DELETE", credential: workspace.key });
  expect((await add()).status).toBe(201);
});
