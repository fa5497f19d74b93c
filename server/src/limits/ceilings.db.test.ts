import { describe, expect, test } from "vitest";
import { addUsage, type GivenEntry } from "../../test/add-usage.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { zoneAtNoon } from "../../test/zone-at-noon.ts";
import { newId } from "../base/ids.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

const beckon = await startTestBeckon();
const { database } = beckon.db;

/** Creates a workspace with a key that has every scope. By default, its day does not end soon. */
async function newWorkspace(time_zone = zoneAtNoon()): Promise<{ id: string; key: string }> {
  return (await beckon.call("/workspaces", { body: { name: "Test", time_zone } })).body.data;
}

interface Ids {
  readonly workspace: string;
  readonly agent: string;
  readonly trigger: string;
  readonly key: string;
}

/** Creates a workspace with an agent, a trigger of the agent and a key. */
async function filled(timeZone?: string) {
  const { id, key } = await newWorkspace(timeZone);
  const call = (path: string, body?: unknown, method?: string) =>
    beckon.call(path, { credential: key, body, ...(method === undefined ? {} : { method }) });
  const agent = (await call("/agents", { name: "Ada", model: "demo/echo" })).body.data.id;
  const trigger = (await call(`/agents/${agent}/triggers`, { name: "Orders" })).body.data.id;
  const keyId = (await call("/keys", { name: "Shop", preset: "invoke" })).body.data.id;
  const ids: Ids = { workspace: id, agent, trigger, key: keyId };
  const put = (scope: keyof Ids, limit_micros: number, more: object = {}) =>
    call(`/limits/${scope}/${ids[scope]}`, { limit_micros, ...more }, "PUT");
  const spend = (...entries: GivenEntry[]) =>
    addUsage(database, { workspaceId: id, agentId: agent }, ...entries);
  return { id, key, ids, call, put, spend };
}

test("a ceiling shows what is spent, reserved and left, and when it resets", async () => {
  const now = new Date();
  const { ids, put, call } = await filled(zoneAtNoon(now));
  const answer = await put("agent", 5_000);
  const midnight = now.setUTCMinutes(0, 0, 0) + 12 * 3_600_000;
  expect([answer.status, answer.body.data]).toEqual([
    200,
    {
      scope: "agent",
      scope_id: ids.agent,
      name: "Ada",
      limit_micros: 5_000,
      pauses_agent: false,
      spent_micros: 0,
      reserved_micros: 0,
      left_micros: 5_000,
      reached: false,
      starts_at: new Date(midnight - 86_400_000).toISOString(),
      resets_at: new Date(midnight).toISOString(),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ]);
  expect((await call(`/limits/agent/${ids.agent}`)).body.data).toEqual(answer.body.data);
});

test("a new ceiling counts what its scope spent since the start of the day", async () => {
  const { ids, put, spend, call } = await filled();
  const yesterday = new Date(Date.now() - 86_400_000);
  const other = (await call("/agents", { name: "Bob", model: "demo/echo" })).body.data.id;
  await spend(
    { cost_micros: 1 },
    { cost_micros: 10, principal: `key:${ids.key}` },
    { cost_micros: 100, principal: `trigger:${ids.trigger}`, trigger_id: ids.trigger },
    { cost_micros: null },
    { cost_micros: 1_000, time: yesterday },
  );
  await addUsage(
    database,
    { workspaceId: ids.workspace, agentId: other },
    { cost_micros: 10_000, principal: `key:${newId("key")}` },
  );
  const spent: Record<string, number> = {};
  for (const scope of ["workspace", "agent", "key", "trigger"] as const)
    spent[scope] = (await put(scope, 50_000)).body.data.spent_micros;
  expect(spent).toEqual({ workspace: 10_111, agent: 111, key: 10, trigger: 100 });
});

test("an entry that is being written when the ceiling is created counts exactly once", async () => {
  const { ids, put, id } = await filled();
  const client = await database.engine.connect();
  try {
    await client.query("begin");
    await client.query(
      `insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source, principal,
          step, attempt, outcome, kind, provider, model, cost_micros, estimated)
        values ($1, 2, 1, $2, now()::date, $3, 'invoke', 'system', 1, 1, 'answered', 'model', 'demo',
          'echo', 700, false)`,
      [newId("run"), id, ids.agent],
    );
    let isAnswered = false;
    const putting = put("agent", 1_000).finally(() => {
      isAnswered = true;
    });
    await eventually("the budget", async () => {
      const { rows } = await database.engine.query("select from budgets where scope_id = $1", [
        ids.agent,
      ]);
      return rows.length || undefined;
    });
    expect(isAnswered).toBe(false);
    await client.query("commit");
    expect((await putting).body.data).toMatchObject({ spent_micros: 700, left_micros: 300 });
  } finally {
    client.release();
  }
});

test("a change keeps what is spent and reserved", async () => {
  const { ids, put, spend } = await filled();
  await spend({ cost_micros: 600 });
  await put("agent", 1_000);
  await database.engine.query("update budgets set reserved = 250 where scope_id = $1", [ids.agent]);
  expect((await put("agent", 900)).body.data).toMatchObject({
    limit_micros: 900,
    spent_micros: 600,
    reserved_micros: 250,
    left_micros: 50,
  });
  expect((await put("agent", 500)).body.data).toMatchObject({
    spent_micros: 600,
    left_micros: 0,
    reached: true,
  });
});

test("a raise lowers the percentage that was reached, so that it is reported again", async () => {
  const { ids, put, spend } = await filled();
  await spend({ cost_micros: 900 });
  const crossed = async () => {
    const { rows } = await database.engine.query(
      "select crossed from budgets where scope_id = $1",
      [ids.agent],
    );
    return rows[0]?.crossed;
  };
  await put("agent", 1_000);
  expect(await crossed()).toBe(80);
  await put("agent", 1_600);
  expect(await crossed()).toBe(50);
  await put("agent", 900);
  expect(await crossed()).toBe(100);
  await put("agent", 0);
  await put("agent", 1_000_000);
  expect(await crossed()).toBe(0);
});

test("a ceiling that is new or lowered reports the percentages that what is spent reaches", async () => {
  const { ids, put, spend } = await filled();
  await spend({ cost_micros: 600 });
  const events = async () => {
    const { rows } = await database.engine.query(
      `select agent_id, type, data from workspace_events where workspace_id = $1
        and type = 'usage.threshold' order by number`,
      [ids.workspace],
    );
    return rows;
  };
  const { resets_at } = (await put("agent", 1_000)).body.data;
  await put("agent", 500);
  const reached = { scope: "agent", scope_id: ids.agent, metric: "cost", used: 600, resets_at };
  expect(await events()).toEqual(
    [
      { percent: 50, limit: 1_000 },
      { percent: 80, limit: 500 },
      { percent: 100, limit: 500 },
    ].map((data) => ({
      agent_id: ids.agent,
      type: "usage.threshold",
      data: { ...reached, ...data },
    })),
  );
  await put("agent", 400);
  expect(await events()).toHaveLength(3);
});

test("a change reports 100 percent again only if it is a raise, after a call was rejected", async () => {
  const { ids, put, spend } = await filled();
  await spend({ cost_micros: 900 });
  await put("agent", 1_000);
  // A model call did not fit into what is left.
  await database.engine.query(
    "update budgets set refused = true, crossed = 100 where scope_id = $1",
    [ids.agent],
  );
  const state = async () => {
    const { rows } = await database.engine.query(
      "select refused, crossed from budgets where scope_id = $1",
      [ids.agent],
    );
    return rows[0];
  };
  for (const limit of [1_000, 950]) {
    expect((await put("agent", limit)).body.data).toMatchObject({
      spent_micros: 900,
      reached: true,
    });
    expect(await state()).toEqual({ refused: true, crossed: 100 });
  }
  expect((await put("agent", 1_000)).body.data.reached).toBe(false);
  expect(await state()).toEqual({ refused: false, crossed: 80 });
});

test("a ceiling of 0 leaves nothing", async () => {
  const { put } = await filled();
  expect((await put("workspace", 0)).body.data).toMatchObject({ limit_micros: 0, left_micros: 0 });
});

test("a deleted ceiling is gone, and a new one counts again", async () => {
  const { ids, put, call, spend } = await filled();
  const path = `/limits/agent/${ids.agent}`;
  await put("agent", 1_000);
  expect((await call(path, undefined, "DELETE")).status).toBe(204);
  expectError(await call(path), 404, "not_found", /no ceiling. Set one with PUT/);
  expectError(await call(path, undefined, "DELETE"), 404, "not_found", /no ceiling/);
  await spend({ cost_micros: 5 });
  expect((await put("agent", 1_000)).body.data.spent_micros).toBe(5);
});

test("the ceiling of a deleted agent can be deleted, but not set", async () => {
  const { ids, put, call } = await filled();
  const path = `/limits/agent/${ids.agent}`;
  await put("agent", 1_000);
  await call(`/agents/${ids.agent}`, undefined, "DELETE");
  expect((await call("/limits")).body.data).toMatchObject([{ scope_id: ids.agent, name: null }]);
  expectError(await put("agent", 2_000), 404, "not_found", /no agent/);
  expect((await call(path, undefined, "DELETE")).status).toBe(204);
  expectError(await call(path), 404, "not_found", /no agent/);
});

test("the list is in pages: the workspace's own ceiling, then the others by scope and id", async () => {
  const { ids, put, call } = await filled();
  for (const scope of ["workspace", "trigger", "key", "agent"] as const) await put(scope, 1_000);
  const first = (await call("/limits?limit=3")).body;
  expect(first.data.map((each: { scope: string }) => each.scope)).toEqual([
    "workspace",
    "agent",
    "key",
  ]);
  const second = (await call(`/limits?limit=3&after=${first.next}`)).body;
  expect([second.data.map((each: { scope: string }) => each.scope), second.next]).toEqual([
    ["trigger"],
    null,
  ]);
  expect((await call("/limits?scope=key")).body.data).toMatchObject([{ scope_id: ids.key }]);
  expectError(await call("/limits?scope=run"), 400, "bad_request", /scope must be/);
  expectError(await call(`/limits?scope=key&after=${first.next}`), 400, "bad_request", /cursor/);
  const forged = Buffer.from(first.next, "base64url").toString().replace("key", "thing");
  const after = Buffer.from(forged).toString("base64url");
  expectError(await call(`/limits?limit=3&after=${after}`), 400, "bad_request", /cursor/);
});

test.each([
  [{}, /limit_micros is missing/],
  [{ limit_micros: -1 }, /limit_micros must be at least 0/],
  [{ limit_micros: 1.5 }, /limit_micros must be a whole number/],
  [{ limit_micros: 1e15 + 1 }, /limit_micros must be at most/],
  [{ limit_micros: null }, /limit_micros must be a number/],
  [{ limit_micros: 1, pauses_agent: "yes" }, /pauses_agent must be true or false/],
  [{ limit_micros: 1, spent_micros: 0 }, /unknown field spent_micros/],
])("rejects %j", async (body, text) => {
  const path = `/limits/workspace/${defaultWorkspaceId}`;
  expectError(await beckon.call(path, { method: "PUT", body }), 400, "bad_request", text);
});

test.each(["workspace", "key", "trigger"] as const)(
  "a ceiling of a %s cannot pause an agent",
  async (scope) => {
    const { put } = await filled();
    const answer = await put(scope, 1_000, { pauses_agent: true });
    expectError(answer, 400, "bad_request", /only a ceiling of an agent can/);
  },
);

test("a ceiling of an agent can pause it until it is raised or deleted", async () => {
  const { ids, put, call, spend } = await filled();
  const paused = async () => {
    const { data } = (await call(`/agents/${ids.agent}`)).body;
    return [data.paused, data.paused_by];
  };
  await spend({ cost_micros: 1_000 });
  await put("agent", 1_000);
  expect(await paused()).toEqual([false, null]);
  await put("agent", 1_000, { pauses_agent: true });
  expect(await paused()).toEqual([true, "limit"]);
  await put("agent", 1_001, { pauses_agent: true });
  expect(await paused()).toEqual([false, null]);
  await put("agent", 500, { pauses_agent: true });
  expect(await paused()).toEqual([true, "limit"]);
  await call(`/limits/agent/${ids.agent}`, undefined, "DELETE");
  expect(await paused()).toEqual([false, null]);
});

test("another scope than those four is not found", async () => {
  const path = `/limits/run/${newId("run")}`;
  const answer = await beckon.call(path, { method: "PUT", body: { limit_micros: 1 } });
  expectError(answer, 404, "not_found", /workspace, agent, key, trigger/);
});

describe("in another workspace", () => {
  test.each(["workspace", "agent", "key", "trigger"] as const)(
    "a ceiling of a %s is not found and cannot be set or deleted",
    async (scope) => {
      const { ids, put } = await filled();
      await put(scope, 1_000);
      const credential = await insertStranger(beckon);
      const path = `/limits/${scope}/${ids[scope]}`;
      const body = { limit_micros: 1 };
      expectError(await beckon.call(path, { credential }), 404, "not_found");
      expectError(await beckon.call(path, { credential, method: "PUT", body }), 404, "not_found");
      expectError(await beckon.call(path, { credential, method: "DELETE" }), 404, "not_found");
      expect((await beckon.call("/limits", { credential })).body.data).toEqual([]);
    },
  );
});

test("a key that is limited to an agent sees its ceilings, and sets none", async () => {
  const { ids, put, call, id } = await filled();
  const other = (await call("/agents", { name: "Bob", model: "demo/echo" })).body.data.id;
  const { data } = (
    await call("/keys", { name: "Limited", scopes: ["usage:read"], agent_ids: [ids.agent] })
  ).body;
  for (const scope of ["workspace", "agent", "key", "trigger"] as const) await put(scope, 1_000);
  await call(`/limits/agent/${other}`, { limit_micros: 1 }, "PUT");
  await call(`/limits/key/${data.id}`, { limit_micros: 1 }, "PUT");
  const seen = await beckon.call("/limits", { credential: data.key });
  expect(seen.body.data.map((each: { scope_id: string }) => each.scope_id)).toEqual([
    ids.agent,
    data.id,
    ids.trigger,
  ]);
  for (const path of [`agent/${other}`, `workspace/${id}`, `key/${ids.key}`])
    expectError(
      await beckon.call(`/limits/${path}`, { credential: data.key }),
      404,
      "not_found",
      /that this credential can see/,
    );
  const limited = await insertKey(beckon, {
    workspaceId: id,
    agentIds: [ids.agent],
    scopes: ["limits:write"],
  });
  const answer = await beckon.call(`/limits/agent/${ids.agent}`, {
    credential: limited,
    method: "PUT",
    body: { limit_micros: 9 },
  });
  expectError(answer, 403, "forbidden", /limited to some agents/);
});

test("a key with a ceiling gets the secret of no other key, unless it can change ceilings", async () => {
  const { ids, call } = await filled();
  const granted = { name: "Other", scopes: ["agents:invoke"] };
  const attempts = async (scopes: readonly string[]) => {
    const { id, key } = (await call("/keys", { name: "CI", scopes })).body.data;
    await call(`/limits/key/${id}`, { limit_micros: 5_000 }, "PUT");
    const send = (path: string, body: object) => beckon.call(path, { credential: key, body });
    return [
      await send("/keys", granted),
      await send(`/keys/${ids.key}/rotate`, {}),
      await send(`/keys/${id}/rotate`, {}),
    ] as const;
  };
  const scopes = ["keys:write", "agents:invoke"];
  const [created, rotated, own] = await attempts(scopes);
  for (const answer of [created, rotated]) expectError(answer, 403, "forbidden", /has a ceiling/);
  expect(own.status).toBe(200);
  const allowed = await attempts([...scopes, "limits:write"]);
  expect(allowed.map(({ status }) => status)).toEqual([201, 200, 200]);
});

test("for a key that is limited to an agent, a missing ceiling differs from what it cannot see", async () => {
  const { ids, call, id } = await filled();
  const other = (await call("/agents", { name: "Bob", model: "demo/echo" })).body.data.id;
  const others = (await call(`/agents/${other}/triggers`, { name: "Mails" })).body.data.id;
  const { data } = (
    await call("/keys", { name: "Limited", scopes: ["usage:read"], agent_ids: [ids.agent] })
  ).body;
  const get = (path: string) => beckon.call(`/limits/${path}`, { credential: data.key });
  for (const path of [`agent/${ids.agent}`, `trigger/${ids.trigger}`, `key/${data.id}`])
    expectError(await get(path), 404, "not_found", /has no ceiling. Set one with PUT/);
  const hidden = [`agent/${other}`, `trigger/${others}`, `key/${ids.key}`, `workspace/${id}`];
  for (const path of hidden)
    expectError(await get(path), 404, "not_found", /that this credential can see/);
  await call(`/agents/${ids.agent}`, undefined, "DELETE");
  expectError(await get(`agent/${ids.agent}`), 404, "not_found", /that this credential can see/);
});

test("a name is shown only to those who can read it", async () => {
  const { put, id } = await filled();
  for (const scope of ["agent", "key", "trigger"] as const) await put(scope, 1_000);
  const names = async (...scopes: string[]) => {
    const credential = await insertKey(beckon, {
      workspaceId: id,
      scopes: ["usage:read", ...scopes],
    });
    const { data } = (await beckon.call("/limits", { credential })).body;
    return data.map((each: { name: string | null }) => each.name);
  };
  expect(await names()).toEqual([null, null, null]);
  expect(await names("keys:read")).toEqual([null, "Shop", null]);
  expect(await names("agents:read", "triggers:read")).toEqual(["Ada", null, "Orders"]);
});

test.each([
  ["owner", 200],
  ["admin", 200],
  ["editor", 403],
  ["viewer", 403],
] as const)("every member sees ceilings; setting one as %s is %i", async (role, status) => {
  const person = await addPerson(beckon, { role });
  const path = `/limits/workspace/${defaultWorkspaceId}`;
  const answer = await person.call(path, { method: "PUT", body: { limit_micros: 1_000_000 } });
  expect(answer.status).toBe(status);
  expect((await person.call("/limits")).status).toBe(200);
});

describe("the day", () => {
  const zoneTo = (workspaceId: string, zone: string) =>
    database.engine.query("update workspaces set time_zone = $2 where id = $1", [
      workspaceId,
      zone,
    ]);

  test("is that of the workspace's zone, and a new zone applies from the next reset", async () => {
    const now = new Date();
    const anHourAgo = new Date(now.getTime() - 3_600_000);
    const { put, call, id, ids } = await filled(zoneAtNoon(now));
    const { resets_at } = (await put("workspace", 1_000)).body.data;
    const midnight = now.setUTCMinutes(0, 0, 0) + 12 * 3_600_000;
    expect(resets_at).toBe(new Date(midnight).toISOString());
    // In this zone, midnight is an hour earlier.
    const zone = await call(`/workspaces/${id}`, { time_zone: zoneAtNoon(anHourAgo) }, "PATCH");
    expect(zone.status).toBe(200);
    expect((await put("workspace", 2_000)).body.data.resets_at).toBe(resets_at);
    await database.engine.query(
      "update budgets set starts = now() - interval '1 day', ends = now(), spent = 900 where scope_id = $1",
      [id],
    );
    const after = (await call(`/limits/workspace/${ids.workspace}`)).body.data;
    expect([after.resets_at, after.spent_micros]).toEqual([
      new Date(midnight - 3_600_000).toISOString(),
      0,
    ]);
    expect((await put("workspace", 3_000)).body.data).toEqual({
      ...after,
      limit_micros: 3_000,
      left_micros: 3_000,
      updated_at: expect.any(String),
    });
  });

  test("stays as it is when the zone changes, even if nothing was spent since it began", async () => {
    const { put, call, id } = await filled();
    await put("workspace", 1_000);
    await database.engine.query(
      "update budgets set starts = now() - interval '1 day', ends = now() where scope_id = $1",
      [id],
    );
    const before = (await call(`/limits/workspace/${id}`)).body.data;
    await call(`/workspaces/${id}`, { time_zone: "Asia/Kathmandu" }, "PATCH");
    expect((await call(`/limits/workspace/${id}`)).body.data).toEqual(before);
  });

  test("ends at local midnight, when the ceiling resets by itself", async () => {
    const { put, call, id, spend } = await filled();
    // In a POSIX time zone, a minus sign means ahead of UTC. In the zone that is set here, midnight
    // is in ten seconds. That is enough for the three calls below, even on a busy machine.
    const untilMidnight = 86_400 - (Math.floor(Date.now() / 1_000) % 86_400);
    const ahead = (untilMidnight + 86_400 - 10) % 86_400;
    const part = (seconds: number) => String(seconds).padStart(2, "0");
    const offset = `${Math.floor(ahead / 3_600)}:${part(Math.floor(ahead / 60) % 60)}:${part(ahead % 60)}`;
    await zoneTo(id, `<T>-${offset}`);
    await spend({ cost_micros: 1_000 });
    const before = (await put("workspace", 1_000)).body.data;
    expect([before.spent_micros, before.left_micros]).toEqual([1_000, 0]);
    const after = await eventually("the reset", async () => {
      const { data } = (await call(`/limits/workspace/${id}`)).body;
      return data.resets_at === before.resets_at ? undefined : data;
    });
    expect([after.spent_micros, after.left_micros, after.starts_at]).toEqual([
      0,
      1_000,
      before.resets_at,
    ]);
  });
});
