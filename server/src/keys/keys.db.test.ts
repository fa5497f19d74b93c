// This file is long because all operations on keys are tested on one server.
import { presets, scopes } from "@beckon/contract";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { repeatUnavailable } from "../../test/repeat-unavailable.ts";
import { inWorkspace } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { createKeyUse } from "./record-use.ts";
import { noteUse } from "./secret-store.ts";
import { findKeyRow, updateKeyRow } from "./store.ts";

const beckon = await startTestBeckon();
const other = await beckon.another();
afterAll(() => other.stop());
const { engine } = beckon.db.database;
const { rows: keyRows } = await engine.query<{ workspace_id: string }>(
  "select workspace_id from keys",
);
const workspaceId = keyRows[0]?.workspace_id ?? "";

const create = async (body: Record<string, unknown> = {}, credential = beckon.key) => {
  const response = await beckon.call("/keys", {
    body: { name: "Test", ...("scopes" in body ? {} : { preset: "observer" }), ...body },
    credential,
  });
  if (response.status !== 201)
    throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
  return response.body.data as { id: string; key: string; expires_at: string | null };
};
const rotate = async (id: string, graceSeconds = 0) => {
  const { body } = await repeatUnavailable(() =>
    beckon.call(`/keys/${id}/rotate`, { body: { grace_seconds: graceSeconds } }),
  );
  return body.data.key as string;
};
/** The statuses with which both processes respond to the credential. */
const statusesOf = async (credential: string) => [
  (await beckon.call("/agents", { credential })).status,
  (await beckon.call(`${other.url}/api/public/agents`, { credential })).status,
];
const weak = await create({ scopes: ["keys:write", "runs:read"] });
const strong = await create({ preset: "everything" });
const daysUntil = (time: string | null) =>
  Math.round((Date.parse(time ?? "") - Date.now()) / 86_400_000);

test("the response to creating a key is the only one with its secret", async () => {
  const { status, headers, body } = await beckon.call("/keys", {
    body: { name: "CI", scopes: ["runs:read", "agents:invoke"] },
  });
  expect([status, headers.get("location")]).toEqual([201, `/api/public/keys/${body.data.id}`]);
  expect(body.data).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    name: "CI",
    scopes: ["runs:read", "agents:invoke"],
    agent_ids: null,
    bootstrap: false,
    created_by: expect.stringMatching(/^key:key_/),
    created_at: expect.any(String),
    updated_at: expect.any(String),
    expires_at: expect.any(String),
    last_used_at: null,
    key: expect.stringMatching(/^bkw_[\w-]{48}$/),
  });
  const { key, ...shown } = body.data;
  expect((await beckon.call(`/keys/${shown.id}`)).body.data).toEqual(shown);
  expect((await beckon.call("/keys")).body.data[0]).toEqual(shown);
});

test.each(Object.entries(presets))("the preset %s grants its scopes", async (preset, meant) => {
  const { id } = await create({ preset });
  expect((await beckon.call(`/keys/${id}`)).body.data.scopes).toEqual([...meant]);
});

test("a key can do what its scopes allow and nothing else", async () => {
  const { key } = await create({ preset: "invoke" });
  const agent = await beckon.createAgent();
  expect((await beckon.invoke({ id: agent.id, token: key }, "Hello")).body.output).toBe("Hello");
  expectError(await beckon.call("/agents", { credential: key }), 403, "forbidden", /agents:read/);
});

describe("a key's expiry", () => {
  test("is in 90 days by default", async () => {
    expect(daysUntil((await create()).expires_at)).toBe(90);
    expect(daysUntil((await create({ expires_in_days: 7 })).expires_at)).toBe(7);
    expect((await create({ expires_at: "2999-01-01T01:00:00+01:00" })).expires_at).toBe(
      "2999-01-01T00:00:00.000Z",
    );
    expect((await create({ expires_at: null })).expires_at).toBeNull();
    expect((await create({ expires_in_days: null })).expires_at).toBeNull();
  });

  test("does not depend on clock changes in the time zone of the database session", async () => {
    const { id } = await create();
    // From any date, at least one of these periods contains a change of the clocks in New York, and
    // so a day of 23 or 25 hours.
    for (const days of [90, 180, 270]) {
      const milliseconds = await inWorkspace(beckon.db.database.tenant, workspaceId, async (tx) => {
        await sql`set local time zone 'America/New_York'`.execute(tx);
        const row = await findKeyRow(tx, workspaceId, id, undefined);
        if (row === undefined) throw new Error("the key does not exist");
        const changed = await updateKeyRow(tx, row, { expiry: { days } });
        return Number(changed.expires_at) - Number(changed.updated_at);
      });
      expect(milliseconds).toBe(days * 24 * 3_600_000);
    }
  });

  test("cannot be in the past", async () => {
    const body = { name: "Test", preset: "observer", expires_at: "2020-01-01T00:00:00Z" };
    expectError(await beckon.call("/keys", { body }), 400, "bad_request", /expires_at/);
    const { id } = await create();
    expectError(
      await beckon.call(`/keys/${id}`, { method: "PATCH", body: { expires_at: body.expires_at } }),
      400,
      "bad_request",
    );
  });

  test("makes every process reject it, until the expiry is changed", async () => {
    const { id, key } = await create();
    await engine.query("update keys set expires_at = now() - interval '1 second' where id = $1", [
      id,
    ]);
    expect(await statusesOf(key)).toEqual([401, 401]);
    const agent = await beckon.createAgent();
    expectError(await beckon.invoke({ id: agent.id, token: key }, "Hello"), 401, "unauthorized");
    expectError(
      await beckon.call(`/keys/${id}/rotate`, { method: "POST" }),
      409,
      "conflict",
      /expires_at/,
    );
    expect(
      (await beckon.call(`/keys/${id}`, { method: "PATCH", body: { expires_in_days: 1 } })).status,
    ).toBe(200);
    expect(await statusesOf(key)).toEqual([200, 200]);
  });
});

describe("a rotated key", () => {
  test("is rejected at once without a grace period", async () => {
    const { id, key } = await create();
    const next = await rotate(id);
    expect(await statusesOf(key)).toEqual([401, 401]);
    expect(await statusesOf(next)).toEqual([200, 200]);
  });

  test("is valid together with the new one during its grace period, also for invoke", async () => {
    const { id, key } = await create({ preset: "everything" });
    const agent = await beckon.createAgent();
    const next = await rotate(id, 600);
    expect(await statusesOf(key)).toEqual([200, 200]);
    expect(await statusesOf(next)).toEqual([200, 200]);
    for (const token of [key, next])
      expect((await beckon.invoke({ id: agent.id, token }, "Hello")).status).toBe(200);

    await engine.query(
      "update key_secrets set expires_at = now() - interval '1 second' where key_id = $1 and expires_at is not null",
      [id],
    );
    expect(await statusesOf(key)).toEqual([401, 401]);
    expectError(await beckon.invoke({ id: agent.id, token: key }, "Hello"), 401, "unauthorized");
    expect(await statusesOf(next)).toEqual([200, 200]);
  });

  test("that rotates itself can repeat the call for 5 minutes if the response is lost", async () => {
    const { id, key } = await create({ preset: "everything" });
    const rotateItself = () =>
      beckon.call(`/keys/${id}/rotate`, {
        method: "POST",
        credential: key,
        headers: { "idempotency-key": `rotate-${id}` },
      });
    const [lost, repeated] = [await rotateItself(), await rotateItself()];
    expect(repeated.body.data.key).toBe(lost.body.data.key);
    expect(await statusesOf(repeated.body.data.key)).toEqual([200, 200]);
    // Both times come from the transaction that rotated the key.
    const { rows } = await engine.query(
      `select extract(epoch from max(expires_at) - max(created_at))::int as grace
        from key_secrets where key_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ grace: 300 }]);
  });

  test("that rotates itself with a grace period of 0 is rejected at once", async () => {
    const { id, key } = await create({ preset: "everything" });
    const options = { body: { grace_seconds: 0 }, credential: key };
    expect((await beckon.call(`/keys/${id}/rotate`, options)).status).toBe(200);
    expect(await statusesOf(key)).toEqual([401, 401]);
  });

  test("has at most one previous secret", async () => {
    const { id, key } = await create();
    const second = await rotate(id, 600);
    const third = await rotate(id, 600);
    expect(await statusesOf(key)).toEqual([401, 401]);
    expect(await statusesOf(second)).toEqual([200, 200]);
    expect(await statusesOf(third)).toEqual([200, 200]);
  });

  test("has one valid secret after concurrent rotations", async () => {
    const { id } = await create();
    const made = await Promise.all(Array.from({ length: 20 }, () => rotate(id)));
    const responses = await Promise.all(
      made.map((credential) => beckon.call("/agents", { credential })),
    );
    expect(responses.filter(({ status }) => status === 200).length).toBe(1);
  });
});

test("every process rejects a deleted key and its previous secret", async () => {
  const { id, key } = await create({ preset: "everything" });
  const agent = await beckon.createAgent();
  const next = await rotate(id, 600);
  expect(await statusesOf(next)).toEqual([200, 200]);
  expect((await beckon.invoke({ id: agent.id, token: next }, "Hello")).status).toBe(200);
  expect((await beckon.call(`/keys/${id}`, { method: "DELETE" })).status).toBe(204);
  for (const credential of [key, next]) {
    expect(await statusesOf(credential)).toEqual([401, 401]);
    expectError(
      await beckon.invoke({ id: agent.id, token: credential }, "Hello"),
      401,
      "unauthorized",
    );
  }
  expectError(await beckon.call(`/keys/${id}`), 404, "not_found");
});

test("every process applies a changed key's scopes", async () => {
  const { id, key } = await create();
  const { status, body } = await beckon.call(`/keys/${id}`, {
    method: "PATCH",
    body: { name: "Renamed", scopes: ["runs:read"] },
  });
  expect([status, body.data.name, body.data.scopes]).toEqual([200, "Renamed", ["runs:read"]]);
  expect(await statusesOf(key)).toEqual([403, 403]);
});

describe("the bootstrap key", () => {
  const find = async () =>
    (await beckon.call("/keys?limit=200")).body.data.find(
      (key: { bootstrap: boolean }) => key.bootstrap,
    );

  test("is listed with every scope", async () => {
    expect(await find()).toMatchObject({
      name: "bootstrap",
      scopes: [...scopes],
      agent_ids: null,
      expires_at: null,
    });
  });

  test.each([
    ["PATCH", "", { name: "Mine" }],
    ["DELETE", "", undefined],
    ["POST", "/rotate", {}],
  ])("can only be changed in the settings: %s %s returns 409", async (method, path, body) => {
    const { id } = await find();
    expectError(
      await beckon.call(`/keys/${id}${path}`, { method, body }),
      409,
      "conflict",
      /BECKON_BOOTSTRAP_KEY/,
    );
    expect((await beckon.call("/keys")).status).toBe(200);
  });
});

describe("a key cannot grant more than it has:", () => {
  const asWeak = (path: string, method: string, body: unknown = {}) =>
    beckon.call(path, { method, body, credential: weak.key });

  test("it cannot create a key with a scope that it does not have", async () => {
    expectError(
      await asWeak("/keys", "POST", { name: "x", scopes: ["runs:read", "runs:write"] }),
      403,
      "forbidden",
      /runs:write/,
    );
    expectError(
      await asWeak("/keys", "POST", { name: "x", preset: "everything" }),
      403,
      "forbidden",
      /agents:write/,
    );
    expect((await asWeak("/keys", "POST", { name: "x", scopes: ["runs:read"] })).status).toBe(201);
  });

  test("it cannot add one to a key, including itself", async () => {
    for (const { id } of [await create(), weak]) {
      expectError(
        await asWeak(`/keys/${id}`, "PATCH", { scopes: ["providers:write"] }),
        403,
        "forbidden",
        /providers:write/,
      );
    }
  });

  test("it cannot extend the expiry of a key that can do more", async () => {
    expectError(
      await asWeak(`/keys/${strong.id}`, "PATCH", { expires_at: null }),
      403,
      "forbidden",
    );
  });

  test("it cannot rotate a key that can do more", async () => {
    const { id, key } = strong;
    expectError(await asWeak(`/keys/${id}/rotate`, "POST"), 403, "forbidden", /agents:write/);
    expect(await statusesOf(key)).toEqual([200, 200]);
  });

  test("it can remove scopes of such a key and delete it", async () => {
    const { id, key } = await create({ preset: "everything" });
    expect(
      (await asWeak(`/keys/${id}`, "PATCH", { name: "Weaker", scopes: ["runs:read"] })).status,
    ).toBe(200);
    expect(await statusesOf(key)).toEqual([403, 403]);
    expect((await asWeak(`/keys/${id}`, "DELETE")).status).toBe(204);
  });
});

describe("a key that expires", () => {
  const expiring = () =>
    create({ scopes: ["keys:write", "runs:read"], expires_at: "2999-01-01T00:00:00Z" });
  const grants = [
    { expires_at: null },
    { expires_in_days: null },
    { expires_at: "2999-01-02T00:00:00Z" },
  ];

  test.each(grants)("cannot create a key that outlives it: %j", async (expiry) => {
    const { key } = await expiring();
    const body = { name: "Test", scopes: ["runs:read"], ...expiry };
    expectError(
      await beckon.call("/keys", { body, credential: key }),
      403,
      "forbidden",
      /expires at 2999-01-01T00:00:00\.000Z.*expires_at/,
    );
  });

  test.each(grants)("cannot extend its own expiry or that of others: %j", async (body) => {
    const { id, key } = await expiring();
    for (const target of [id, (await create({ scopes: ["runs:read"] })).id]) {
      const path = `/keys/${target}`;
      const { expires_at } = (await beckon.call(path)).body.data;
      expectError(
        await beckon.call(path, { method: "PATCH", body, credential: key }),
        403,
        "forbidden",
        /expires_at/,
      );
      expect((await beckon.call(path)).body.data.expires_at).toBe(expires_at);
    }
  });

  test("cannot add scopes or agents to a key that outlives it, and can remove them", async () => {
    const { key } = await expiring();
    const agent_ids = [(await beckon.createAgent()).id];
    const later = await create({ scopes: ["runs:read"], agent_ids, expires_at: null });
    const change = (body: object) =>
      beckon.call(`/keys/${later.id}`, { method: "PATCH", body, credential: key });
    for (const body of [{ scopes: ["runs:read", "keys:write"] }, { agent_ids: null }])
      expectError(await change(body), 403, "forbidden", /expires at 2999-01-01T.*expires_at/);
    expect((await beckon.call(`/keys/${later.id}`)).body.data).toMatchObject({
      scopes: ["runs:read"],
      agent_ids,
    });
    const expires_at = "2998-01-01T00:00:00.000Z";
    expect((await change({ agent_ids: null, expires_at })).status).toBe(200);
    const wide = await create({ scopes: ["keys:write", "runs:read"], expires_at: null });
    const narrower = { method: "PATCH", body: { scopes: ["runs:read"] }, credential: key };
    expect((await beckon.call(`/keys/${wide.id}`, narrower)).status).toBe(200);
  });

  test("cannot rotate a key that outlives it, and can rotate itself and others", async () => {
    const { id, key } = await expiring();
    const rotate = (keyId: string) =>
      beckon.call(`/keys/${keyId}/rotate`, { method: "POST", credential: key });
    for (const expires_at of [null, "2999-01-02T00:00:00Z"]) {
      const later = await create({ scopes: ["runs:read"], expires_at });
      expectError(await rotate(later.id), 403, "forbidden", /expires later/);
      expect((await beckon.call("/runs", { credential: later.key })).status).toBe(200);
    }
    const earlier = await create({ scopes: ["runs:read"] });
    expect((await rotate(earlier.id)).status).toBe(200);
    expect((await rotate(id)).status).toBe(200);
  });

  test("creates keys that expire in 90 days, or with it if that is earlier", async () => {
    const late = await expiring();
    expect(daysUntil((await create({ scopes: ["runs:read"] }, late.key)).expires_at)).toBe(90);
    const early = await create({ scopes: ["keys:write", "runs:read"], expires_in_days: 3 });
    const created = await create({ scopes: ["runs:read"] }, early.key);
    expect(created.expires_at).toBe(early.expires_at);
  });

  test("can set an expiry up to its own", async () => {
    const { id, key } = await expiring();
    const expires_at = "2999-01-01T00:00:00.000Z";
    const created = await create({ scopes: ["runs:read"], expires_at }, key);
    expect(created.expires_at).toBe(expires_at);
    for (const [target, expiry] of [
      [created.id, { expires_at }],
      [id, { expires_at }],
      [id, { expires_in_days: 1 }],
    ] as const) {
      const options = { method: "PATCH", body: expiry, credential: key };
      expect((await beckon.call(`/keys/${target}`, options)).status).toBe(200);
    }
  });
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ["neither scopes nor a preset", {}, /scopes.*missing/],
  ["both", { scopes: ["runs:read"], preset: "invoke" }, /preset/],
  ["a scope there is not", { scopes: ["runs:delete"] }, /scopes\.0/],
  ["no scopes", { scopes: [] }, /scopes/],
  ["a preset there is not", { preset: "admin" }, /preset/],
  ["two ends", { preset: "invoke", expires_in_days: 1, expires_at: null }, /expires_in_days/],
  ["no days", { preset: "invoke", expires_in_days: 0 }, /expires_in_days/],
  [
    "a date that does not exist",
    { preset: "invoke", expires_at: "2999-02-30T00:00:00Z" },
    /expires_at/,
  ],
  ["no agents", { preset: "invoke", agent_ids: [] }, /agent_ids/],
  [
    "a workspace-wide scope and agent_ids",
    { scopes: ["audit:read"], agent_ids: ["?"] },
    /audit:read/,
  ],
])("a key with %s is rejected", async (_, body, text) => {
  const agent = await beckon.createAgent();
  const filled =
    "agent_ids" in body && (body.agent_ids as string[]).length > 0
      ? { ...body, agent_ids: [agent.id] }
      : body;
  expectError(
    await beckon.call("/keys", { body: { name: "Test", ...filled } }),
    400,
    "bad_request",
    text,
  );
});

test.each(["management", "invoke"])("last_used_at is updated by %s", async (door) => {
  const { id, key } = await create({ preset: "everything" });
  const agent = await beckon.createAgent();
  if (door === "invoke") await beckon.invoke({ id: agent.id, token: key }, "Hello");
  else await beckon.call("/agents", { credential: key });
  const at = await eventually(
    "a time of use",
    async () => (await beckon.call(`/keys/${id}`)).body.data.last_used_at ?? undefined,
  );
  expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000);
});

test.each([
  [59, false],
  [61, true],
])("a use %i seconds after last_used_at updates it: %s", async (seconds, noted) => {
  const { id, key } = await create();
  // In one transaction, now() is the same for both statements, however much time passes.
  await inWorkspace(beckon.db.database.tenant, workspaceId, async (tx) => {
    await tx
      .updateTable("keys")
      .set({ last_used_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
      .where("id", "=", id)
      .execute();
    await noteUse(tx, hashCredential(key));
  });
  const { rows } = await engine.query(
    "select last_used_at > now() - interval '30 seconds' as noted from keys where id = $1",
    [id],
  );
  expect(rows).toEqual([{ noted }]);
});

test("uses within a minute cause one write", async () => {
  const { id, key } = await create();
  const uses = createKeyUse(beckon.db.database, createLog("silent"));
  const use = () => uses.note({ workspaceId, credential: key });
  use();
  await eventually(
    "a time of use",
    async () => (await beckon.call(`/keys/${id}`)).body.data.last_used_at ?? undefined,
  );
  const version = async () =>
    (await engine.query("select xmin from keys where id = $1", [id])).rows;
  const before = await version();
  for (let times = 0; times < 1_000; times++) use();
  await inWorkspace(beckon.db.database.tenant, workspaceId, (tx) =>
    noteUse(tx, hashCredential(key)),
  );
  expect(await version()).toEqual(before);
});
