/**
 * Tests of the settings, the secret and the received requests of triggers; long because each of
 * these has several routes.
 */

import { createHmac } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { allSucceeded } from "../../test/runs-of.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();

const github = async () => {
  const { body } = await beckon.call("/trigger-presets");
  return body.data.find(({ name }: { name: string }) => name === "github").receiving;
};

interface Made {
  readonly id: string;
  readonly url: string;
  readonly receiving?: unknown;
  readonly sender_secret_set?: boolean;
  readonly listening_until?: string | null;
}

async function made(receiving: unknown, body: Record<string, unknown> = {}) {
  const agent = await beckon.createAgent();
  const trigger: Made = await beckon.createTrigger(agent.id, { receiving, ...body });
  return { agent, ...trigger, path: `/agents/${agent.id}/triggers/${trigger.id}` };
}
const patch = (path: string, receiving: unknown) =>
  beckon.call(path, { method: "PATCH", body: { receiving } });
const post = (path: string, body?: unknown) =>
  beckon.call(path, { method: "POST", ...(body === undefined ? {} : { body }) });
const send = (url: string, payload: unknown, headers: Record<string, string> = {}) =>
  beckon.call(url, { method: "POST", credential: null, body: payload, headers });
const requestsOf = async (path: string) => (await beckon.call(`${path}/requests`)).body.data;

test("a received request can be deleted", async () => {
  const { path, url } = await made({ filter: "false" });
  await send(url, { card: "4111" });
  const [{ id }] = await requestsOf(path);
  const remove = () => beckon.call(`${path}/requests/${id}`, { method: "DELETE" });
  expect((await remove()).status).toBe(204);
  expect(await requestsOf(path)).toEqual([]);
  expectError(await remove(), 404, "not_found");
});

test("a secret header is not shown of requests from before it was set", async () => {
  const { path, url } = await made({});
  await send(url, {}, { "x-verify": "hush", "x-event": "push" });
  const [{ id }] = await requestsOf(path);
  const headers = async () => (await beckon.call(`${path}/requests/${id}`)).body.data.headers;
  expect(await headers()).toMatchObject({ "x-verify": "hush", "x-event": "push" });
  await patch(path, { verification: { kind: "header", header: "x-verify" } });
  expect(await headers()).not.toHaveProperty("x-verify");
  expect(await headers()).toHaveProperty("x-event");
});

test.each([
  { headers: ["x-webhook-key"] },
  { event_id: { header: "x-webhook-key" } },
  { event_type: { header: "x-webhook-key" } },
  { headers: ["x-webhook-key"], template: "{{ headers['x-webhook-key'] }}" },
  { headers: ["x-webhook-key"], verification: { kind: "header", header: "x-other" } },
])(
  "a preview with the settings %j shows no secret of a request from before it was set",
  async (receiving) => {
    const { path, url } = await made({});
    await send(url, { n: 1 }, { "x-webhook-key": "s3cr3t", "x-event": "push" });
    const [{ id }] = await requestsOf(path);
    const preview = () => post(`${path}/preview`, { request: { request_id: id }, receiving });
    expect(JSON.stringify((await preview()).body)).toContain("s3cr3t");
    await patch(path, { verification: { kind: "header", header: "x-webhook-key" } });
    const { status, body } = await preview();
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain("s3cr3t");
  },
);

test("a preview shows no header that only its own settings verify, and shows the others", async () => {
  const { path, url } = await made({});
  await send(url, { n: 1 }, { "x-webhook-key": "s3cr3t", "x-event": "push" });
  const [{ id }] = await requestsOf(path);
  const receiving = {
    headers: ["x-webhook-key", "x-event"],
    verification: { kind: "header", header: "x-webhook-key" },
  };
  const { body } = await post(`${path}/preview`, { request: { request_id: id }, receiving });
  expect(body.data.input).toBe('x-event: push\n\n{"n":1}');
});

test("a replay stores no secret of a request from before it was set", async () => {
  const { path, url } = await made({});
  await send(url, { n: 1 }, { "x-webhook-key": "s3cr3t", "x-event": "push" });
  const [{ id }] = await requestsOf(path);
  await patch(path, { verification: { kind: "header", header: "x-webhook-key" } });
  expect((await post(`${path}/requests/${id}/replay`, {})).status).toBe(201);
  const { rows } = await beckon.db.database.engine.query(
    "select headers from received_requests where replay_of = $1",
    [id],
  );
  expect(rows).toEqual([{ headers: expect.objectContaining({ "x-event": "push" }) }]);
  expect(JSON.stringify(rows)).not.toContain("s3cr3t");
});

test("stored settings with a secret header as the event's type stay valid", async () => {
  const { path, id, url } = await made({});
  await beckon.db.database.engine.query(
    `update triggers set receiving = receiving || '{"event_type": {"header": "x-api-key"}}'
      where id = $1`,
    [id],
  );
  expect((await beckon.call(path)).body.data.receiving.event_type).toEqual({ header: "x-api-key" });
  expect((await send(url, {}, { "x-api-key": "hush" })).status).toBe(200);
  expect(await requestsOf(path)).toMatchObject([{ event_type: null }]);
});

describe("settings of what a trigger accepts", () => {
  test("are null by default, and get the defaults of what they leave out", async () => {
    expect((await made(undefined)).receiving).toBeNull();
    const { receiving, sender_secret_set, listening_until, path } = await made({
      headers: ["X-Shop-Event"],
    });
    expect({ sender_secret_set, listening_until }).toEqual({
      sender_secret_set: false,
      listening_until: null,
    });
    expect(receiving).toMatchObject({
      verification: { kind: "none" },
      headers: ["x-shop-event"],
      template: null,
      bodies: { max_bytes: 1_048_576 },
    });
    expect((await beckon.call(path)).body.data.receiving).toEqual(receiving);
  });

  test("that name a preset are those of the preset wherever they have none of their own", async () => {
    const settings = await github();
    expect((await made({ preset: "github" })).receiving).toEqual(settings);
    const { path } = await made(undefined);
    const own = { preset: "github", headers: [], template: "{{ payload.ref }}" };
    expect((await patch(path, own)).body.data.receiving).toEqual({ ...settings, ...own });
    expectError(await patch(path, { preset: "nobody" }), 400, "bad_request", /preset/);
  });

  test("are replaced as a whole, and null returns to the default", async () => {
    const { path } = await made({ headers: ["x-one"] });
    const { body } = await patch(path, { query: ["two"] });
    expect(body.data).toMatchObject({ receiving: { headers: [], query: ["two"] }, warnings: [] });
    expect((await patch(path, null)).body.data.receiving).toBeNull();
  });

  test("that another change does not name are kept", async () => {
    const { path } = await made({ headers: ["x-one"] });
    const { body } = await beckon.call(path, { method: "PATCH", body: { name: "Other" } });
    expect(body.data).toMatchObject({ name: "Other", receiving: { headers: ["x-one"] } });
  });

  test.each([
    [
      "a header of credentials as the event's type",
      { event_type: { header: "X-Api-Key" } },
      /receiving\.event_type\.header: was x-api-key/,
    ],
    [
      "its own secret's header as the event's type",
      {
        verification: { kind: "header", header: "x-verify" },
        event_type: { header: "x-verify" },
      },
      /receiving\.event_type\.header: was x-verify/,
    ],
    ["a filter that is not CEL", { filter: "payload.a ==" }, /receiving\.filter, line 1: .*found/],
    [
      "an unknown variable",
      { filter: "true &&\n paylod.a == 1" },
      /line 2: There is no variable paylod/,
    ],
    ["an unknown function", { filter: "exec('ls')" }, /There is no function exec/],
    [
      "an unknown tag",
      { template: "\n{% exec %}" },
      /receiving\.template, line 2: Tag "exec" not found/,
    ],
    ["a tag that reads files", { template: "{% include 'x' %}" }, /"include" not found/],
    ["an unknown filter of Liquid", { template: "{{ payload | exec }}" }, /Undefined filter: exec/],
    [
      "large bodies without a template",
      { bodies: { max_bytes: 2_000_000 } },
      /max_bytes can be more than/,
    ],
    [
      "compressed bodies and a signed time in the body",
      { preset: "linear", bodies: { gzip: true } },
      /timestamp can be a pointer only if receiving\.bodies\.gzip/,
    ],
    ["a header of credentials", { headers: ["authorization"] }, /receiving\.headers\.0/],
    ["an unknown field", { retries: 3 }, /unknown field receiving\.retries/],
  ])("with %s are rejected", async (_, receiving, message) => {
    const agent = await beckon.createAgent();
    const created = await post(`/agents/${agent.id}/triggers`, { name: "Bad", receiving });
    expectError(created, 400, "bad_request", message);
    const { path } = await made({});
    expectError(await patch(path, receiving), 400, "bad_request", message);
    expect((await beckon.call(path)).body.data.receiving).toMatchObject({ filter: null });
  });

  test("are saved with a warning if they fail for the last received request", async () => {
    const { path, url } = await made({});
    expect((await send(url, { kind: "a" })).status).toBe(200);
    const { status, body } = await patch(path, { filter: "payload.total > 3" });
    expect([status, body.data.warnings]).toEqual([
      200,
      [{ part: "filter", message: expect.stringMatching(/no field total/), line: 1 }],
    ]);
    const mended = await patch(path, { filter: "has(payload.total) && payload.total > 3" });
    expect(mended.body.data.warnings).toEqual([]);
  });

  test("give no warning to a key that cannot open received requests", async () => {
    const { path, url } = await made({});
    expect((await send(url, { email: "ada@example.com" })).status).toBe(200);
    const asked = async (scopes: string[]) => {
      const { status, body } = await beckon.call(path, {
        method: "PATCH",
        credential: await insertKey(beckon, { scopes }),
        body: { receiving: { filter: "payload[payload.email] == 1" } },
      });
      return [status, body.data.warnings];
    };
    expect(await asked(["triggers:write"])).toEqual([200, []]);
    expect(await asked(["triggers:write", "runs:read"])).toEqual([
      200,
      [{ part: "filter", message: expect.stringMatching(/ada@example\.com/), line: 1 }],
    ]);
  });

  test("give a warning if they no longer verify requests although a secret is stored", async () => {
    const { path } = await made({ preset: "github" });
    const template = "{{ payload.ref }}";
    const warningsOf = async (receiving: unknown) =>
      (await patch(path, receiving)).body.data.warnings;
    const unverified = [
      { part: "verification", message: expect.stringMatching(/no longer verifies/), line: null },
    ];
    expect(await warningsOf({ template })).toEqual([]);
    await patch(path, { preset: "github" });
    await post(`${path}/secret`);
    expect(await warningsOf({ preset: "github", template })).toEqual([]);
    expect(await warningsOf({ template })).toEqual(unverified);
    expect(await warningsOf({ template: "Other" })).toEqual([]);
    await patch(path, { preset: "github" });
    expect(await warningsOf(null)).toEqual(unverified);
  });

  test("are exported without secrets, and imported", async () => {
    const { agent, path, receiving } = await made(await github());
    const { secret } = (await post(`${path}/secret`)).body.data;
    const document = (await beckon.call(`/agents/${agent.id}/export`)).body;
    expect(document.agents[0].triggers).toMatchObject([{ receiving }]);
    expect(JSON.stringify(document)).not.toContain(secret);
    const imported = (await post("/agents/import", document)).body.data.agents[0];
    const [trigger] = (await beckon.call(`/agents/${imported.id}/triggers`)).body.data;
    expect(trigger).toMatchObject({ receiving, sender_secret_set: false });
  });
});

describe("the presets", () => {
  test("are listed with settings that a trigger accepts, and every example gives an input", async () => {
    const { body } = await beckon.call("/trigger-presets");
    expect(body.data.map(({ name }: { name: string }) => name)).toContain("stripe");
    const agent = await beckon.createAgent();
    for (const { name, receiving, examples } of body.data) {
      const trigger = await beckon.createTrigger(agent.id, { receiving });
      for (const example of examples) {
        const previewed = await post(`/agents/${agent.id}/triggers/${trigger.id}/preview`, {
          request: { example: { preset: name, name: example.name } },
        });
        expect([name, example.name, previewed.status]).toEqual([name, example.name, 200]);
        expect(previewed.body.data).toMatchObject({ passes: true, mistakes: [] });
      }
    }
  });
});

describe("the sender secret", () => {
  test("is generated in the form of the verification, revealed again, and audited", async () => {
    const { path, id } = await made(await github());
    const { status, headers, body } = await post(`${path}/secret`);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(body.data).toEqual({
      secret: expect.stringMatching(/^[\w-]{43}$/),
      verify_token: null,
      previous_until: null,
    });
    const shown = await beckon.call(`${path}/secret`);
    expect([shown.headers.get("cache-control"), shown.body]).toEqual(["no-store", body]);
    expect((await beckon.call(path)).body.data.sender_secret_set).toBe(true);
    const audited = (await beckon.call(`/audit?target=${id}`)).body.data;
    expect(audited.map(({ action }: { action: string }) => action)).toEqual([
      "trigger.reveal_secret",
      "trigger.set_secret",
      "trigger.create",
    ]);
    expect(JSON.stringify(audited)).not.toContain(body.data.secret);
  });

  test("is audited with what was set or replaced", async () => {
    const { path, id } = await made({ ...(await github()), handshake: "meta" });
    const set = (body: object) => post(`${path}/secret`, body);
    await set({ secret: "the first secret" });
    await set({ secret: "the second secret", grace_seconds: 60 });
    await set({ secret: "the second secret", grace_seconds: 60 });
    await set({ verify_token: "mine" });
    const entries = (await beckon.call(`/audit?target=${id}&action=trigger.set_secret`)).body.data;
    expect(entries.map(({ data }: { data: object }) => data).reverse()).toEqual([
      { grace_seconds: 0, secret: "set", verify_token: "set" },
      { grace_seconds: 60, secret: "replaced" },
      { grace_seconds: 60 },
      { grace_seconds: 0, verify_token: "replaced" },
    ]);
  });

  test("that cannot be decrypted is replaced, and audited so", async () => {
    const { path, id } = await made({ ...(await github()), handshake: "meta" });
    await post(`${path}/secret`, { secret: "the first secret" });
    // An encrypted value is bound to its column. A copy in another column cannot be decrypted.
    await beckon.db.database.engine.query(
      "update triggers set sender_secret = verify_token where id = $1",
      [id],
    );
    await post(`${path}/secret`, { secret: "the second secret" });
    const [entry] = (await beckon.call(`/audit?target=${id}&action=trigger.set_secret`)).body.data;
    expect(entry.data).toEqual({ grace_seconds: 0, secret: "replaced" });
  });

  test("is deleted with the trigger, together with the previous one and the verify token", async () => {
    const { path, id } = await made({ ...(await github()), handshake: "meta" });
    await post(`${path}/secret`);
    await post(`${path}/secret`, { grace_seconds: 600 });
    const stored = async () => {
      const { rows } = await beckon.db.database.engine.query(
        "select sender_secret, previous_sender_secret, verify_token from triggers where id = $1",
        [id],
      );
      return Object.values(rows[0]);
    };
    expect(await stored()).not.toContain(null);
    await beckon.call(path, { method: "DELETE" });
    expect(await stored()).toEqual([null, null, null]);
  });

  test("verifies what the sender signs; two are valid while one is rotated", async () => {
    const { path, url } = await made(await github());
    const signed = (secret: string, delivery: string) => {
      const text = '{"ref":"main"}';
      const signature = createHmac("sha256", secret).update(text).digest("hex");
      return send(url, text, {
        "content-type": "application/json",
        "x-hub-signature-256": `sha256=${signature}`,
        "x-github-delivery": delivery,
      });
    };
    expect((await signed("any", "0")).status).toBe(401);
    const set = async (body: object) => (await post(`${path}/secret`, body)).body.data;
    await set({ secret: "the first secret" });
    expect((await signed("the first secret", "1")).status).toBe(200);
    const rotated = await set({ secret: "the second secret", grace_seconds: 600 });
    expect(Date.parse(rotated.previous_until) - Date.now()).toBeGreaterThan(500_000);
    expect((await signed("the first secret", "2")).status).toBe(200);
    expect((await signed("the second secret", "3")).status).toBe(200);
    const repeated = await set({ secret: "the second secret", grace_seconds: 600 });
    expect(repeated.previous_until).toBe(rotated.previous_until);
    expect((await signed("the first secret", "2b")).status).toBe(200);
    const ended = await set({ secret: "the second secret" });
    expect(ended.previous_until).toBeNull();
    expect((await signed("the first secret", "2c")).status).toBe(401);
    expect((await signed("the second secret", "3b")).status).toBe(200);
    await set({ secret: "the third secret" });
    expect((await signed("the second secret", "4")).status).toBe(401);
    expect((await signed("the third secret", "5")).status).toBe(200);
  });

  test("of Meta has a verify token, which a rotation keeps", async () => {
    const presets = (await beckon.call("/trigger-presets")).body.data;
    const meta = presets.find(({ name }: { name: string }) => name === "meta").receiving;
    const { path } = await made(meta);
    const first = (await post(`${path}/secret`, { secret: "app secret" })).body.data;
    expect(first.verify_token).toMatch(/^[\w-]{32}$/);
    const second = (await post(`${path}/secret`, { secret: "other secret" })).body.data;
    expect(second.verify_token).toBe(first.verify_token);
    const third = (await post(`${path}/secret`, { verify_token: "mine" })).body.data;
    expect(third).toMatchObject({ secret: "other secret", verify_token: "mine" });
  });

  test("of Meta is generated with a verify token if none is stored", async () => {
    const { path } = await made({ preset: "meta" });
    const { secret } = (await post(`${path}/secret`, { verify_token: "mine" })).body.data;
    expect(secret.length).toBeGreaterThan(20);
    const grace = { secret: "app secret", grace_seconds: 600 };
    const { previous_until } = (await post(`${path}/secret`, grace)).body.data;
    const changed = (await post(`${path}/secret`, { verify_token: "other" })).body.data;
    expect(changed).toEqual({ secret: "app secret", verify_token: "other", previous_until });
  });

  test("of Meta gets another verify token if the stored one cannot be decrypted", async () => {
    const presets = (await beckon.call("/trigger-presets")).body.data;
    const meta = presets.find(({ name }: { name: string }) => name === "meta").receiving;
    const { id, path } = await made(meta);
    const first = (await post(`${path}/secret`, { secret: "app secret" })).body.data;
    // An encrypted value is bound to its column. A copy in another column cannot be decrypted.
    await beckon.db.database.engine.query(
      "update triggers set verify_token = sender_secret where id = $1",
      [id],
    );
    const unreadable = await beckon.call(`${path}/secret`);
    expectError(unreadable, 409, "secret_unreadable", /Set the secret of this trigger again/);
    const { status, body } = await post(`${path}/secret`, { secret: "app secret" });
    expect([status, body.data.verify_token]).toEqual([200, expect.stringMatching(/^[\w-]{32}$/)]);
    expect(body.data.verify_token).not.toBe(first.verify_token);
    expect((await beckon.call(`${path}/secret`)).body).toEqual(body);
  });

  test("gets a verify token when the trigger is switched to Meta", async () => {
    const { path, url } = await made({ preset: "github" });
    await post(`${path}/secret`, { secret: "app secret" });
    await patch(path, { preset: "meta" });
    const { secret, verify_token } = (await beckon.call(`${path}/secret`)).body.data;
    expect([secret, verify_token]).toEqual(["app secret", expect.stringMatching(/^[\w-]{32}$/)]);
    const query = `hub.mode=subscribe&hub.verify_token=${verify_token}&hub.challenge=42`;
    const answer = await fetch(`${url}?${query}`);
    expect([answer.status, await answer.text()]).toEqual([200, "42"]);
    await patch(path, { preset: "github" });
    await patch(path, { preset: "meta" });
    expect((await beckon.call(`${path}/secret`)).body.data.verify_token).toBe(verify_token);
  });

  test("does not count as set while the verification cannot use it", async () => {
    const { path } = await made({ preset: "github" });
    await post(`${path}/secret`, { secret: "not base64!" });
    const isSetWith = async (preset: string) => {
      const changed = (await patch(path, { preset })).body.data.sender_secret_set;
      expect((await beckon.call(path)).body.data.sender_secret_set).toBe(changed);
      return changed;
    };
    expect(await isSetWith("svix")).toBe(false);
    expect(await isSetWith("stripe")).toBe(true);
    expect(await isSetWith("standard-webhooks")).toBe(false);
    await post(`${path}/secret`);
    expect((await beckon.call(path)).body.data.sender_secret_set).toBe(true);
  });

  test("must have the form that the verification needs", async () => {
    const { path } = await made({ verification: { kind: "basic" } });
    expectError(await post(`${path}/secret`, { secret: "nocolon" }), 400, "bad_request", /colon/);
  });

  test("needs settings, and is not found before it is set", async () => {
    const { path } = await made(null);
    expectError(await post(`${path}/secret`), 409, "conflict", /receiving/);
    expectError(await beckon.call(`${path}/secret`), 404, "not_found", /no secret/);
  });
});

describe("received requests", () => {
  test("are listed and shown, without what is secret", async () => {
    const { path, url, id, agent } = await made({ event_type: { header: "x-event" } });
    const sent = await send(
      `${url}?a=1&a=2`,
      { n: 1 },
      { "x-event": "paid", authorization: "Bearer secret", cookie: "a=b" },
    );
    const [listed] = await requestsOf(path);
    expect(listed).toMatchObject({
      agent_id: agent.id,
      trigger_id: id,
      outcome: "started",
      event_type: "paid",
      run_id: sent.body.run_id,
      replay_of: null,
      size: 7,
    });
    const { body } = await beckon.call(`${path}/requests/${listed.id}`);
    expect(body.data).toMatchObject({
      ...listed,
      query: { a: ["1", "2"] },
      headers: { "x-event": "paid" },
      body: '{"n":1}',
      body_encoding: "utf8",
    });
    expect(Object.keys(body.data.headers)).not.toContain("authorization");
    expect(Object.keys(body.data.headers)).not.toContain("cookie");
  });

  test("are shown without the tokens that were stored in their headers earlier", async () => {
    const { path, url } = await made({});
    await send(url, { n: 1 });
    const [{ id }] = await requestsOf(path);
    await beckon.db.database.engine.query(
      "update received_requests set headers = $2 where id = $1",
      [id, { "x-original-url": new URL(url).pathname }],
    );
    const { body } = await beckon.call(`${path}/requests/${id}`);
    expect(body.data.headers).toEqual({ "x-original-url": "/api/public/triggers/[secret]" });
  });

  test("are filtered and paginated", async () => {
    const { path, url } = await made({
      event_type: { header: "x-event" },
      filter: "event.type != 'other'",
    });
    for (const type of ["one", "two", "other"]) await send(url, { type }, { "x-event": type });
    const types = async (query: string) =>
      (await beckon.call(`${path}/requests${query}`)).body.data.map(
        ({ event_type }: { event_type: string }) => event_type,
      );
    expect(await types("")).toEqual(["other", "two", "one"]);
    expect(await types("?outcome=filtered")).toEqual(["other"]);
    expect(await types("?event_type=two")).toEqual(["two"]);
    const first = (await beckon.call(`${path}/requests?limit=2`)).body;
    expect(await types(`?limit=2&after=${first.next}`)).toEqual(["one"]);
  });

  test("of a trigger without settings are its runs", async () => {
    const { path, url } = await made(null);
    await send(url, "Hello");
    expect(await requestsOf(path)).toEqual([]);
  });

  test("show no value of their payload to a key without runs:read", async () => {
    const { path, url } = await made({ filter: "payload[payload.email] == 1" });
    expect((await send(url, { email: "ada@example.com" })).status).toBe(200);
    const scopes = ["triggers:read", "triggers:write", "agents:invoke"];
    const limited = await insertKey(beckon, { scopes });
    const entitled = await insertKey(beckon, { scopes: [...scopes, "runs:read"] });
    const list = async (credential: string) =>
      (await beckon.call(`${path}/requests?outcome=mapping_error`, { credential })).body.data;
    const [{ id }] = await list(limited);
    const replay = (credential: string) =>
      beckon.call(`${path}/requests/${id}/replay`, { method: "POST", credential });
    expect(await list(limited)).toMatchObject([{ id, error: null }]);
    expect(await list(entitled)).toMatchObject([{ error: expect.stringMatching(/ada@/) }]);
    const hidden = await replay(limited);
    expect(hidden).toMatchObject({ status: 500, body: { run_id: expect.any(String) } });
    expect(hidden.body.error).toMatch(/runs:read/);
    expect(hidden.body.error).not.toContain("ada@");
    const shown = await replay(entitled);
    expect([shown.status, shown.body.error]).toEqual([500, expect.stringMatching(/ada@/)]);
    await patch(path, {});
    expect((await replay(limited)).body.data).toMatchObject({ input: "", output: null });
    expect((await replay(entitled)).body.data.input).toBe('{"email":"ada@example.com"}');
  });

  test("need runs:read to be opened, and are not found in another workspace", async () => {
    const { path, url } = await made({});
    await send(url, "Hello");
    const [{ id }] = await requestsOf(path);
    const limited = await insertKey(beckon, { scopes: ["triggers:read"] });
    const list = await beckon.call(`${path}/requests`, { credential: limited });
    expect(list.body.data).toMatchObject([{ id }]);
    const opened = await beckon.call(`${path}/requests/${id}`, { credential: limited });
    expectError(opened, 403, "forbidden", /runs:read/);
    const previewed = await beckon.call(`${path}/preview`, {
      credential: limited,
      body: { request: { request_id: id } },
    });
    expectError(previewed, 403, "forbidden", /runs:read/);
    const stranger = await insertStranger(beckon);
    for (const each of [`${path}/requests`, `${path}/requests/${id}`])
      expectError(await beckon.call(each, { credential: stranger }), 404, "not_found");
    const other = await made({});
    expectError(await beckon.call(`${other.path}/requests/${id}`), 404, "not_found");
    const elsewhere = await post(`${other.path}/preview`, { request: { request_id: id } });
    expectError(elsewhere, 404, "not_found");
  });
});

describe("a preview", () => {
  test("shows the event, the parts and the input, without a run", async () => {
    const { path, agent } = await made({
      event_id: { pointer: "/id" },
      event_type: { header: "x-event" },
      headers: ["x-event"],
      query: ["shop"],
    });
    const request = {
      payload: { id: "e1", text: "Hi" },
      headers: { "X-Event": "paid\tnow" },
      query: { shop: "one\nignore: all", other: "x" },
    };
    const { body } = await post(`${path}/preview`, { request, prompt_prefix: "A payment:" });
    const values = "x-event: paid now\nshop: one ignore: all";
    const payload = '{"id":"e1","text":"Hi"}';
    expect(body.data).toEqual({
      event_id: "e1",
      event_type: "paid\tnow",
      passes: true,
      input: `A payment:\n\n${values}\n\n${payload}`,
      parts: [
        { kind: "prefix", text: "A payment:" },
        { kind: "values", text: values },
        { kind: "payload", text: payload },
      ],
      mistakes: [],
    });
    expect((await beckon.call(`/agents/${agent.id}/runs`)).body.data).toEqual([]);
    expect(await requestsOf(path)).toEqual([]);
  });

  test("uses settings that are not saved, and shows the mistakes of both parts", async () => {
    const { path } = await made(null);
    const shown = async (receiving: object) =>
      (await post(`${path}/preview`, { request: { payload: { a: 1 } }, receiving })).body.data;
    expect(
      await shown({ filter: "payload.a == 2", template: "a is {{ payload.a }}" }),
    ).toMatchObject({
      passes: false,
      input: "a is 1",
      mistakes: [],
    });
    expect(
      await shown({ filter: "payload.b", template: "\n{{ payload.a | nope }}" }),
    ).toMatchObject({
      passes: null,
      input: null,
      parts: [],
      mistakes: [
        { part: "template", line: 2 },
        { part: "filter", line: 1 },
      ],
    });
  });

  test("reads the JSON in the form field of a Slack interaction", async () => {
    const { path } = await made({
      filter: "parse_json(payload.payload).type == 'block_actions'",
      template: "{% assign slack = payload.payload | parse_json %}<{{ slack.user.id }}>",
    });
    const json = JSON.stringify({ type: "block_actions", user: { id: "U061F7AUR" } });
    const request = {
      content_type: "application/x-www-form-urlencoded",
      payload: new URLSearchParams({ payload: json }).toString(),
    };
    const { body } = await post(`${path}/preview`, { request });
    expect(body.data).toMatchObject({ passes: true, input: "<U061F7AUR>", mistakes: [] });
  });

  test("of a received request is what its run got", async () => {
    const { path, url } = await made(
      { template: "{{ payload.a }} of {{ query.q }}", query: ["q"] },
      { prompt_prefix: "New:" },
    );
    const sent = await send(`${url}?q=x`, { a: "{{ payload }}" });
    const [{ id }] = await requestsOf(path);
    const { body } = await post(`${path}/preview`, { request: { request_id: id } });
    const { input } = (await beckon.call(`/runs/${sent.body.run_id}`)).body.data;
    expect([input, body.data.input]).toEqual([input, "New:\n\n{{ payload }} of x"]);
    expect(input).toBe(body.data.input);
  });

  test.each([
    [{ request_id: "req_1", payload: 1 }, /either request_id/],
    [{ example: { preset: "github", name: "no such" } }, /request\.example\.name.*push/],
  ])("with %j is rejected", async (request, message) => {
    const { path } = await made({});
    expectError(await post(`${path}/preview`, { request }), 400, "bad_request", message);
  });
});

describe("a test of a trigger with settings", () => {
  test("starts the run of a payload, a received request or an example", async () => {
    const { path, url } = await made(
      { filter: "!has(payload.skip)", template: "Got {{ payload.a }}{{ payload.ref }}" },
      { prompt_prefix: "New:" },
    );
    await send(url, { a: "one" });
    const [{ id }] = await requestsOf(path);
    const inputOf = async (body: object) => (await post(`${path}/test`, body)).body.data?.input;
    expect(await inputOf({ payload: { a: "two" } })).toBe("New:\n\nGot two");
    expect(await inputOf({ request: { request_id: id } })).toBe("New:\n\nGot one");
    expect(await inputOf({ request: { example: { preset: "github", name: "push" } } })).toBe(
      "New:\n\nGot refs/heads/main",
    );
    expectError(await post(`${path}/test`, { payload: { skip: 1 } }), 409, "conflict", /filter/);
    expect((await requestsOf(path)).length).toBe(1);
  });

  test("creates a failed run if the template fails", async () => {
    const { path } = await made({ filter: "payload.a > 1" });
    const { status, body } = await post(`${path}/test`, { payload: {} });
    expect([status, body.code, body.run_id]).toEqual([
      expect.any(Number),
      "mapping_error",
      expect.stringMatching(/^run_/),
    ]);
    const run = (await beckon.call(`/runs/${body.run_id}`)).body.data;
    expect(run).toMatchObject({ status: "failed", error: { code: "mapping_error" } });
  });
});

describe("listening for a sample", () => {
  test("captures the next request, which can be replayed", async () => {
    const { path, url, agent } = await made({});
    const listening = await post(`${path}/listen`);
    expect(Date.parse(listening.body.data.listening_until)).toBeGreaterThan(Date.now());
    const sent = await send(url, { a: 1 });
    expect([sent.status, sent.body]).toEqual([202, { ok: true, skipped: true }]);
    expect((await beckon.call(path)).body.data.listening_until).toBeNull();
    const [captured] = await requestsOf(path);
    expect(captured).toMatchObject({ outcome: "captured", run_id: null });
    expect((await beckon.call(`/agents/${agent.id}/runs`)).body.data).toEqual([]);
    const replayed = await post(`${path}/requests/${captured.id}/replay`);
    expect([replayed.status, replayed.body.data.input]).toEqual([201, '{"a":1}']);
    expect((await requestsOf(path))[0]).toMatchObject({
      outcome: "started",
      replay_of: captured.id,
      run_id: replayed.body.data.id,
    });
    expect((await send(url, { a: 2 })).status).toBe(200);
  });

  test("does not begin again if its request is repeated with the same Idempotency-Key", async () => {
    const { path, url } = await made({});
    const listen = () =>
      beckon.call(`${path}/listen`, {
        body: { seconds: 60 },
        headers: { "idempotency-key": "listen" },
      });
    const first = await listen();
    await send(url, { a: 1 });
    const second = await listen();
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await beckon.call(path)).body.data.listening_until).toBeNull();
  });

  test("can be stopped, and needs settings", async () => {
    const { path, url } = await made({});
    await post(`${path}/listen`, { seconds: 60 });
    expect((await beckon.call(`${path}/listen`, { method: "DELETE" })).status).toBe(204);
    expect((await send(url, "x")).status).toBe(200);
    expectError(await post(`${(await made(null)).path}/listen`), 409, "conflict");
  });
});

describe("a replay", () => {
  test("renders the message with the present settings, and binds an event id that no run has", async () => {
    const { path, url } = await made({ event_id: { header: "x-id" }, template: "{{ payload.b }}" });
    const failing = await patch(path, { event_id: { header: "x-id" }, filter: "payload.b > 1" });
    expect(failing.status).toBe(200);
    const sent = await send(url, { a: 1 }, { "x-id": "one" });
    expect(sent.status).toBe(200);
    const [{ id, outcome }] = await requestsOf(path);
    expect(outcome).toBe("mapping_error");
    await patch(path, { event_id: { header: "x-id" }, template: "a is {{ payload.a }}" });
    const replay = () => post(`${path}/requests/${id}/replay`, {});
    const first = (await replay()).body.data;
    const second = (await replay()).body.data;
    expect([first.input, second.input]).toEqual(["a is 1", "a is 1"]);
    expect(second.id).not.toBe(first.id);
    const repeated = await send(url, { a: 2 }, { "x-id": "one" });
    expect([repeated.status, repeated.body.run_id]).toEqual([200, first.id]);
    const [log] = (await beckon.call("/audit?action=trigger.replay")).body.data;
    expect(log.data).toMatchObject({ replay_of: id, version: "current" });
  });

  test("with the original version executes the agent as it was", async () => {
    const { agent, path, url } = await made({});
    await send(url, "x");
    await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { instructions: "New" } });
    const [{ id }] = await requestsOf(path);
    const versionOf = async (version: string) =>
      (await post(`${path}/requests/${id}/replay`, { version })).body.data.agent_version;
    expect([await versionOf("original"), await versionOf("current")]).toEqual([1, 2]);
  });

  test("with the original version of a request that started no run executes the agent as it was when the request arrived", async () => {
    const { agent, path, url } = await made({ form: { honeypot: "website" } });
    await post(`${path}/listen`);
    await send(url, { n: 1 });
    await send(url, { website: "spam" });
    await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { instructions: "New" } });
    const requests: { id: string; outcome: string }[] = await requestsOf(path);
    expect(requests.map(({ outcome }) => outcome)).toEqual(["honeypot", "captured"]);
    for (const { id } of requests) {
      const { body } = await post(`${path}/requests/${id}/replay`, { version: "original" });
      expect(body.data.agent_version).toBe(1);
    }
  });

  test("with the original version is rejected if this version is not known", async () => {
    const { id: triggerId, path, url } = await made({});
    await post(`${path}/listen`);
    await send(url, "x");
    await beckon.db.database.engine.query(
      "update received_requests set agent_version = null where trigger_id = $1",
      [triggerId],
    );
    const [{ id }] = await requestsOf(path);
    const replay = (version: string) => post(`${path}/requests/${id}/replay`, { version });
    expectError(await replay("original"), 409, "conflict", /version/);
    expect((await replay("current")).status).toBe(201);
  });

  test("of many leaves out what the honeypot caught, unless it is asked for", async () => {
    const { path, url } = await made({ form: { honeypot: "website" } });
    const since = new Date(Date.now() - 1_000).toISOString();
    await send(url, { name: "Ada" });
    await send(url, { name: "Bot", website: "spam" });
    const replay = async (outcome?: string) =>
      (await post(`${path}/requests/replay`, { since, outcome })).body.data;
    expect(await replay()).toMatchObject({ replayed: 1, skipped: 0 });
    expect(await replay("honeypot")).toMatchObject({ replayed: 1, skipped: 0 });
  });

  test("of many since the time at which a request is listed includes this request, even if its body arrived late", async () => {
    const { path, url } = await made({});
    const late = request(url, { method: "POST", headers: { expect: "100-continue" } });
    late.flushHeaders();
    await once(late, "continue");
    // The server has received the headers. The body is sent some milliseconds later, so that the
    // request arrives and is stored at different times.
    const headersAt = Date.now();
    await expect.poll(Date.now).toBeGreaterThan(headersAt + 5);
    late.end("x");
    const [response] = await once(late, "response");
    response.resume();
    const [{ received_at: since }] = await requestsOf(path);
    const { body } = await post(`${path}/requests/replay`, { since });
    expect(body.data).toMatchObject({ replayed: 1, skipped: 0 });
  });

  test("with an Idempotency-Key starts one run", async () => {
    const { path, url } = await made({});
    await send(url, "x");
    const [{ id }] = await requestsOf(path);
    const replay = () =>
      beckon.call(`${path}/requests/${id}/replay`, {
        method: "POST",
        headers: { "idempotency-key": "again" },
      });
    const [one, two] = [await replay(), await replay()];
    expect(two.body.data.id).toBe(one.body.data.id);
    expect(two.headers.get("idempotency-replayed")).toBe("true");
  });

  test("is repeated by an Idempotency-Key, even if the body is above a limit that was set since", async () => {
    const { path, url } = await made({});
    const since = new Date(Date.now() - 1_000).toISOString();
    await send(url, "x".repeat(2_000));
    const [{ id }] = await requestsOf(path);
    const headers = { "idempotency-key": "above the limit" };
    const replay = () => beckon.call(`${path}/requests/${id}/replay`, { method: "POST", headers });
    const replayAll = () => beckon.call(`${path}/requests/replay`, { body: { since }, headers });
    const first = await replay();
    expect((await replayAll()).body.data).toMatchObject({ replayed: 1, skipped: 0 });
    await patch(path, { bodies: { max_bytes: 1_024 } });
    expect((await replay()).body.data.id).toBe(first.body.data.id);
    expect((await replayAll()).body.data).toMatchObject({ replayed: 1, skipped: 0 });
    expectError(await post(`${path}/requests/${id}/replay`), 413, "too_large");
  });

  test("of an unverified request is rejected", async () => {
    const { path, url } = await made({ verification: { kind: "header", header: "x-secret" } });
    await post(`${path}/secret`, { secret: "right" });
    expect((await send(url, "x", { "x-secret": "wrong" })).status).toBe(401);
    const [{ id, outcome }] = await requestsOf(path);
    expect(outcome).toBe("invalid_signature");
    expect((await beckon.call(`${path}/requests/${id}`)).body.data.body).toBeNull();
    expectError(await post(`${path}/requests/${id}/replay`), 409, "conflict", /not verified/);
  });

  test("of many starts those whose content is stored, in the order of their arrival", async () => {
    const { path, url } = await made({ filter: "payload.n != 2" });
    const since = new Date(Date.now() - 1_000).toISOString();
    for (const n of [1, 2, 3]) await send(url, { n });
    const replay = () =>
      beckon.call(`${path}/requests/replay`, {
        body: { since },
        headers: { "idempotency-key": "all" },
      });
    const first = await replay();
    expect([first.status, first.body.data]).toEqual([
      200,
      { replayed: 2, skipped: 1, more: false, next_until: null },
    ]);
    const replays = (await requestsOf(path)).filter(
      ({ replay_of }: { replay_of: string | null }) => replay_of !== null,
    );
    expect(replays).toHaveLength(2);
    const inputs = [];
    for (const { run_id } of replays)
      inputs.push((await beckon.call(`/runs/${run_id}`)).body.data.input);
    expect(inputs).toEqual(['{"n":3}', '{"n":1}']);
    expect((await replay()).body.data).toMatchObject({ replayed: 2, skipped: 1 });
    expect(
      (await requestsOf(path)).filter(({ replay_of }: { replay_of: string }) => replay_of),
    ).toHaveLength(2);
  });

  test("of many creates no second failed run if it is repeated with the same key", async () => {
    const { agent, path, url } = await made({ filter: "payload.n > 1" });
    const since = new Date(Date.now() - 1_000).toISOString();
    await send(url, {});
    const replay = async (key: string) => {
      const headers = { "idempotency-key": key };
      const { body } = await beckon.call(`${path}/requests/replay`, { body: { since }, headers });
      const runs = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
      return [body.data.replayed, body.data.skipped, runs.length];
    };
    expect(await replay("one")).toEqual([0, 1, 2]);
    expect(await replay("one")).toEqual([0, 1, 2]);
    expect(await replay("two")).toEqual([0, 1, 3]);
  });

  test("of many with an invalid Idempotency-Key is rejected, like that of one", async () => {
    const { path, url } = await made({});
    const since = new Date(Date.now() - 1_000).toISOString();
    await send(url, "x");
    const [{ id }] = await requestsOf(path);
    const headers = { "idempotency-key": "x".repeat(256) };
    for (const [call, body] of [
      [`${path}/requests/replay`, { since }],
      [`${path}/requests/${id}/replay`, {}],
    ] as const)
      expectError(
        await beckon.call(call, { body, headers }),
        400,
        "bad_request",
        /^Idempotency-Key must be/,
      );
    expect(await requestsOf(path)).toHaveLength(1);
  });

  /** Returns a trigger that has received three requests, of whose replays two fit in the queue. */
  async function madeWithQueue() {
    const held = await startHeldModel(beckon);
    const { agent, path, url } = await made({});
    const since = new Date(Date.now() - 1_000).toISOString();
    for (const n of [1, 2, 3]) await send(url, { n });
    await allSucceeded(beckon, agent.id, 3);
    const limitQueue = (max_queued_runs: number) =>
      beckon.call(`/agents/${agent.id}`, {
        method: "PATCH",
        body: { model: held.model, limits: { max_concurrent_runs: 1, max_queued_runs } },
      });
    await limitQueue(2);
    await beckon.invoke(agent, "executing", { prefer: "respond-async" });
    await held.reached(1);
    return { held, agent, path, since, limitQueue };
  }

  test("of many that fills the agent's queue says how many runs it started, and a repeat starts the others", async () => {
    const { held, agent, path, since, limitQueue } = await madeWithQueue();
    const replay = (key: string) =>
      beckon.call(`${path}/requests/replay`, {
        body: { since },
        headers: { "idempotency-key": key },
      });
    for (const _ of ["first", "repeat"]) {
      const busy = await replay("one");
      expectError(
        busy,
        429,
        "agent_busy",
        /Runs of 2 requests were started before this error: a repeat with the same Idempotency-Key does not start them again\.$/,
      );
      expect(busy.headers.get("retry-after")).not.toBeNull();
    }
    expectError(await replay("other"), 429, "agent_busy", /Try again later, or raise it\.$/);
    await limitQueue(3);
    expect((await replay("one")).body.data).toMatchObject({ replayed: 3, skipped: 0 });
    expect((await replay("one")).headers.get("idempotency-replayed")).toBe("true");
    held.release();
    await allSucceeded(beckon, agent.id, 7);
  });

  test("of many that fills the agent's queue without an Idempotency-Key says how to start only the others", async () => {
    const { held, agent, path, since, limitQueue } = await madeWithQueue();
    const replay = (body: object) => post(`${path}/requests/replay`, body);
    const busy = await replay({ since });
    expectError(
      busy,
      429,
      "agent_busy",
      /Runs of 2 requests were started before this error, and the same call can start them again\. Send "since": "[^"]+" to replay only the others\.$/,
    );
    expect(busy.headers.get("retry-after")).toBeNull();
    await limitQueue(3);
    const [, rest] = /"since": "([^"]+)"/.exec(busy.body.error) ?? [];
    expect((await replay({ since: rest })).body.data).toMatchObject({ replayed: 1, skipped: 0 });
    held.release();
    await allSucceeded(beckon, agent.id, 7);
  });

  test("of many skips none of those that arrived in one millisecond", async () => {
    const { agent, id, path } = await made({});
    // The trigger does not accept the content type of these requests, so replays start no runs. All
    // but the oldest 20 are one event, of which only the newest is replayed: the test is faster.
    await beckon.db.database.engine.query(
      `insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome,
          event_id, content_type, size, query, headers, body)
        select 'req_01' || lpad((n / 3)::text, 8, '0') || lpad(n::text, 16, '0'), workspace_id,
          agent_id, id, 'rejected', case when n > 20 then 'same' end, 'image/png', 1, '',
          '{"content-type": "image/png"}', 'x'
        from triggers, generate_series(1, 1003) n where id = $1 and agent_id = $2`,
      [id, agent.id],
    );
    const replay = async (range: object) =>
      (await post(`${path}/requests/replay`, { since: "1970-01-01T00:00:00Z", ...range })).body
        .data;
    const first = await replay({});
    expect(first).toMatchObject({ replayed: 0, more: true });
    const second = await replay({ until: first.next_until });
    expect(second).toMatchObject({ more: false, next_until: null });
    expect(first.skipped + second.skipped).toBe(20 + 1);
  });
});
