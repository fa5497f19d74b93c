import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { echo, held, startModelServer } from "../../test/model-server.ts";
import { addPerson } from "../../test/people.ts";
import { createReceivingTrigger, senderSecret } from "../../test/receiving-trigger-over-rest.ts";
import { insertKey } from "../../test/workspace-key.ts";
import { managedRoutes } from "./api/index.ts";

// This file is long because each action of the audit log is one element of the array `acts`.
const beckon = await startTestBeckon({ BECKON_TRUST_PROXY: "1" });
const { engine } = beckon.db.database;
const model = await startModelServer();
afterAll(() => model.close());
model.script(held(new Promise(() => {}), echo()));
const provider = await beckon.createProvider(model.url, "held");
const rates = {
  input_micros_per_million: 1_000_000,
  output_micros_per_million: 4_000_000,
  cached_input_micros_per_million: null,
  cache_write_micros_per_million: null,
};
const price = (await beckon.call("/prices", { body: { model: "held/priced", ...rates } })).body
  .data;
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const waiting = await beckon.createAgent({ model: "held/x" });
const key = (
  await beckon.call("/keys", { body: { name: "Before", scopes: ["runs:read"], expires_at: null } })
).body.data;
const { id: bootstrap } = (await beckon.call("/keys?limit=200")).body.data.find(
  (each: { bootstrap: boolean }) => each.bootstrap,
);
const apiKey = "sk-this-is-the-secret-of-a-provider";
const toolSecret = "this-is-the-secret-of-a-tool";
const tools = [
  {
    type: "http",
    name: "shop",
    allowed_hosts: ["api.example.com"],
    headers: { authorization: { secret: toolSecret, prefix: "Bearer " } },
    operations: [
      { name: "look", description: "Looks.", method: "GET", url: "https://api.example.com/" },
    ],
  },
];
const ofAgent = `/agents/${agent.id}`;
const ofTrigger = `${ofAgent}/triggers/${trigger.id}`;
const testedAgent = await beckon.createAgent();
const tested = await beckon.createTrigger(testedAgent.id);
const ofTested = `/agents/${testedAgent.id}/triggers/${tested.id}`;
/** The ids of a trigger that stores its requests, and of a request that it has received. */
const receiver = await createReceivingTrigger(beckon, testedAgent.id);
const ofReceiver = `/agents/${testedAgent.id}/triggers/${receiver.id}`;
/** A run that executes until it is cancelled. */
const { body: started } = await beckon.invoke(waiting, "Hello", { prefer: "respond-async" });
await beckon.invoke(waiting, "Hello", { prefer: "respond-async" });
const [once, swept] = [await beckon.createAgent(), await beckon.createAgent()];
const { body: ended } = await beckon.invoke(once, "Hello");
await beckon.invoke(swept, "Hello");
const { workspace_id: workspaceId } = (
  await engine.query("select workspace_id from agents limit 1")
).rows[0] as { workspace_id: string };

const plan = (await beckon.call("/plans", { body: { name: "small", tokens: 5 } })).body.data;
const noAllowances = { tokens: null, voice_ms: null, browser_ms: null, cost_micros: null };

const person = await addPerson(beckon, { role: "editor" });
const { data: invitation } = (
  await beckon.call("/invitations", { body: { email: "waits@example.com", role: "viewer" } })
).body;

const subscribing = {
  url: "http://127.0.0.1:9/events",
  event_types: ["run.finished"],
  headers: { authorization: apiKey },
};
const { data: subscription } = (await beckon.call("/subscriptions", { body: subscribing })).body;
const ofSubscription = `/subscriptions/${subscription.id}`;
const { data: delivery } = (await beckon.call(`${ofSubscription}/test`, { method: "POST" })).body;

interface Act {
  readonly action: string;
  readonly request: readonly [method: string, path: string, body?: unknown];
  /** Id of the entry's target, or a function that returns the id from the response's `data`. */
  readonly target: string | ((created: { id: string }) => string);
  readonly data: unknown;
}
const made = ({ id }: { id: string }) => id;

const replayed = { since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" };

/**
 * Requests that change something or reveal a secret. They are sent in this order, because some need
 * the changes of earlier ones.
 */
const acts: readonly Act[] = [
  {
    action: "agent.create",
    request: ["POST", "/agents", { name: "New", model: "demo/echo", tools }],
    target: made,
    data: { name: "New", model: "demo/echo" },
  },
  {
    action: "agent.update",
    request: [
      "PATCH",
      ofAgent,
      { name: "After", instructions: "x".repeat(5_000), limits: { max_steps: 3 } },
    ],
    target: agent.id,
    data: {
      version: 2,
      before: {
        name: "Test",
        instructions: "",
        limits: expect.objectContaining({ max_steps: 20 }),
      },
      after: {
        name: "After",
        instructions: `${"x".repeat(2_000)} … (5,000 characters)`,
        limits: expect.objectContaining({ max_steps: 3 }),
      },
    },
  },
  {
    action: "agent.update",
    request: ["PATCH", ofAgent, { tools }],
    target: agent.id,
    data: {
      version: 3,
      before: { tools: [] },
      after: { tools: [expect.anything()] },
      secrets: { written: 1, deleted: 0 },
    },
  },
  {
    action: "agent.version.restore",
    request: ["POST", `${ofAgent}/versions/2/restore`],
    target: agent.id,
    data: {
      version: 4,
      restored: 2,
      before: { tools: [expect.anything()] },
      after: { tools: [] },
      secrets: { deleted: 1 },
    },
  },
  {
    action: "agent.duplicate",
    request: ["POST", `${ofAgent}/duplicate`, { name: "Copy" }],
    target: made,
    data: { name: "Copy", model: "demo/echo", agent_id: agent.id, version: 4, secrets_copied: 0 },
  },
  {
    action: "agent.import",
    request: [
      "POST",
      "/agents/import",
      { beckon: 1, agents: [{ name: "Brought", model: "demo/echo", tools }] },
    ],
    target: (created) => (created as unknown as { agents: { id: string }[] }).agents[0]?.id ?? "",
    data: { name: "Brought", model: "demo/echo", triggers: 0 },
  },
  {
    action: "agent.pause",
    request: ["POST", `${ofAgent}/pause`, { reason: "Holiday" }],
    target: agent.id,
    data: {
      before: { paused: false, paused_by: null, pause_reason: null },
      after: { paused: true, paused_by: "member", pause_reason: "Holiday" },
    },
  },
  {
    action: "agent.resume",
    request: ["POST", `${ofAgent}/resume`],
    target: agent.id,
    data: {
      before: { paused: true, paused_by: "member", pause_reason: "Holiday" },
      after: { paused: false, paused_by: null, pause_reason: null },
    },
  },
  {
    action: "agent.token.rotate",
    request: ["POST", `${ofAgent}/token/rotate`],
    target: agent.id,
    data: { grace_seconds: 0 },
  },
  {
    action: "agent.token.reveal",
    request: ["GET", `${ofAgent}/token`],
    target: agent.id,
    data: {},
  },
  {
    action: "agent.token.revoke",
    request: ["DELETE", `${ofAgent}/token`],
    target: agent.id,
    data: {},
  },
  {
    action: "trigger.create",
    request: ["POST", `${ofAgent}/triggers`, { name: "New" }],
    target: made,
    data: { agent_id: agent.id, name: "New" },
  },
  {
    action: "trigger.update",
    request: ["PATCH", ofTrigger, { prompt_prefix: "Now:", enabled: false }],
    target: trigger.id,
    data: {
      before: { prompt_prefix: "", enabled: true },
      after: { prompt_prefix: "Now:", enabled: false },
    },
  },
  {
    action: "trigger.rotate",
    request: ["POST", `${ofTrigger}/rotate`, { grace_seconds: 5 }],
    target: trigger.id,
    data: { grace_seconds: 5 },
  },
  {
    action: "trigger.reveal",
    request: ["GET", `${ofTrigger}/token`],
    target: trigger.id,
    data: {},
  },
  {
    action: "trigger.set_secret",
    request: ["POST", `${ofReceiver}/secret`, { secret: senderSecret, grace_seconds: 5 }],
    target: receiver.id,
    data: { grace_seconds: 5 },
  },
  {
    action: "trigger.reveal_secret",
    request: ["GET", `${ofReceiver}/secret`],
    target: receiver.id,
    data: {},
  },
  {
    action: "trigger.listen",
    request: ["POST", `${ofReceiver}/listen`, { seconds: 60 }],
    target: receiver.id,
    data: { seconds: 60 },
  },
  {
    action: "trigger.stop_listening",
    request: ["DELETE", `${ofReceiver}/listen`],
    target: receiver.id,
    data: {},
  },
  {
    action: "trigger.replay",
    request: ["POST", `${ofReceiver}/requests/${receiver.requestId}/replay`],
    target: made,
    data: { trigger_id: receiver.id, replay_of: receiver.requestId, version: "current" },
  },
  {
    action: "trigger.replay",
    request: ["POST", `${ofReceiver}/requests/replay`, { since: "2020-01-01T00:00:00Z" }],
    target: () => expect.stringMatching(/^run_/),
    data: { trigger_id: receiver.id, replay_of: receiver.requestId, version: "current" },
  },
  {
    action: "trigger.delete_request",
    request: ["DELETE", `${ofReceiver}/requests/${receiver.requestId}`],
    target: receiver.id,
    data: {
      request_id: receiver.requestId,
      outcome: "started",
      run_id: expect.stringMatching(/^run_/),
    },
  },
  {
    action: "trigger.delete",
    request: ["DELETE", ofTrigger],
    target: trigger.id,
    data: { name: "Test" },
  },
  {
    action: "provider.create",
    request: ["POST", "/providers", { name: "new", kind: "openai", api_key: apiKey }],
    target: made,
    data: { name: "new", kind: "openai" },
  },
  {
    action: "provider.update",
    request: ["PATCH", `/providers/${provider.id}`, { api_key: apiKey }],
    target: provider.id,
    data: {
      before: { api_key_last4: null },
      after: { api_key_last4: apiKey.slice(-4) },
      api_key: "replaced",
    },
  },
  {
    action: "provider.update",
    request: ["PATCH", `/providers/${provider.id}`, { free: true }],
    target: provider.id,
    data: { before: { free: false }, after: { free: true } },
  },
  {
    action: "subscription.create",
    request: ["POST", "/subscriptions", subscribing],
    target: made,
    data: {
      ...subscribing,
      headers: undefined,
      header_names: ["authorization"],
      description: "",
      agent_ids: null,
      trigger_ids: null,
      tags: null,
      payload: "full",
      format: "standard",
    },
  },
  {
    action: "subscription.update",
    request: ["PATCH", ofSubscription, { event_types: ["run.failed"], headers: {} }],
    target: subscription.id,
    data: {
      before: { event_types: ["run.finished"], header_names: ["authorization"] },
      after: { event_types: ["run.failed"], header_names: [] },
      headers: "replaced",
    },
  },
  {
    action: "subscription.rotate",
    request: ["POST", `${ofSubscription}/rotate`, { grace_seconds: 5 }],
    target: subscription.id,
    data: { grace_seconds: 5, secret: "replaced" },
  },
  {
    action: "subscription.reveal",
    request: ["GET", `${ofSubscription}/secret`],
    target: subscription.id,
    data: {},
  },
  {
    action: "subscription.test",
    request: ["POST", `${ofSubscription}/test`],
    target: subscription.id,
    data: { type: "run.failed", delivery_id: expect.stringMatching(/^dlv_/) },
  },
  {
    action: "subscription.replay",
    // The range is before all deliveries, so those that wait for another attempt are not sent.
    request: ["POST", `${ofSubscription}/replay`, replayed],
    target: subscription.id,
    data: { ...replayed, which: "missed", replayed: 0 },
  },
  {
    action: "delivery.replay",
    request: ["POST", `${ofSubscription}/deliveries/${delivery.id}/replay`],
    target: delivery.id,
    data: { subscription_id: subscription.id, type: "run.finished", status: "pending" },
  },
  {
    action: "subscription.pause",
    request: ["POST", `${ofSubscription}/pause`],
    target: subscription.id,
    data: {},
  },
  {
    action: "subscription.resume",
    request: ["POST", `${ofSubscription}/resume`],
    target: subscription.id,
    data: { status: "paused", disabled_reason: null },
  },
  {
    action: "subscription.delete",
    request: ["DELETE", ofSubscription],
    target: subscription.id,
    data: { url: subscribing.url },
  },
  {
    action: "price.create",
    request: ["POST", "/prices", { model: "held/x", ...rates }],
    target: made,
    data: { model: "held/x", ...rates },
  },
  {
    action: "price.update",
    request: ["PATCH", `/prices/${price.id}`, { cached_input_micros_per_million: 100_000 }],
    target: price.id,
    data: {
      model: "held/priced",
      before: { cached_input_micros_per_million: null },
      after: { cached_input_micros_per_million: 100_000 },
    },
  },
  {
    action: "price.delete",
    request: ["DELETE", `/prices/${price.id}`],
    target: price.id,
    data: { model: "held/priced", ...rates, cached_input_micros_per_million: 100_000 },
  },
  {
    action: "key.create",
    request: [
      "POST",
      "/keys",
      { name: "New", preset: "invoke", agent_ids: [agent.id], expires_at: null },
    ],
    target: made,
    data: { name: "New", scopes: ["agents:invoke"], agent_ids: [agent.id], expires_at: null },
  },
  {
    action: "key.update",
    request: ["PATCH", `/keys/${key.id}`, { name: "After", scopes: ["runs:write"] }],
    target: key.id,
    data: {
      before: { name: "Before", scopes: ["runs:read"] },
      after: { name: "After", scopes: ["runs:write"] },
    },
  },
  {
    action: "key.rotate",
    request: ["POST", `/keys/${key.id}/rotate`, { grace_seconds: 5 }],
    target: key.id,
    data: { grace_seconds: 5 },
  },
  {
    action: "key.delete",
    request: ["DELETE", `/keys/${key.id}`],
    target: key.id,
    data: { name: "After" },
  },
  {
    action: "run.cancel",
    request: ["POST", `/runs/${started.run_id}/cancel`],
    target: started.run_id,
    data: {},
  },
  {
    action: "runs.cancel",
    request: ["POST", "/runs/cancel", { filter: { agent_id: waiting.id } }],
    target: workspaceId,
    data: { filter: { agent_id: waiting.id }, cancelled: 1 },
  },
  {
    action: "run.retry",
    request: ["POST", `/runs/${ended.run_id}/retry`],
    target: made,
    data: { retry_of: ended.run_id, version: "current" },
  },
  {
    action: "trigger.test",
    request: ["POST", `${ofTested}/test`, { payload: "Hello" }],
    target: made,
    data: { trigger_id: tested.id },
  },
  {
    action: "run.start_draft",
    request: [
      "POST",
      `/agents/${once.id}/draft-runs`,
      { input: "Hello", config: { instructions: "Draft." } },
    ],
    target: made,
    data: {
      agent_id: once.id,
      version: 1,
      before: { instructions: "" },
      after: { instructions: "Draft." },
    },
  },
  {
    action: "run.delete",
    request: ["DELETE", `/runs/${ended.run_id}`],
    target: ended.run_id,
    data: { agent_id: once.id, status: "succeeded" },
  },
  {
    action: "runs.delete",
    request: ["POST", "/runs/delete", { filter: { agent_id: swept.id } }],
    target: workspaceId,
    data: { filter: { agent_id: swept.id }, deleted: 1 },
  },
  {
    action: "workspace.update",
    request: ["PATCH", `/workspaces/${workspaceId}`, { time_zone: "Europe/Berlin" }],
    target: workspaceId,
    data: { before: { time_zone: "UTC" }, after: { time_zone: "Europe/Berlin" } },
  },
  {
    action: "limit.set",
    request: ["PUT", `/limits/agent/${agent.id}`, { limit_micros: 5 }],
    target: agent.id,
    data: { scope: "agent", before: {}, after: { limit_micros: 5, pauses_agent: false } },
  },
  {
    action: "limit.set",
    request: ["PUT", `/limits/agent/${agent.id}`, { limit_micros: 7 }],
    target: agent.id,
    data: { scope: "agent", before: { limit_micros: 5 }, after: { limit_micros: 7 } },
  },
  {
    action: "limit.delete",
    request: ["DELETE", `/limits/agent/${agent.id}`],
    target: agent.id,
    data: { scope: "agent", limit_micros: 7, pauses_agent: false },
  },
  {
    action: "plan.create",
    request: ["POST", "/plans", { name: "large", tokens: 9 }],
    target: made,
    data: { name: "large", ...noAllowances, tokens: 9 },
  },
  {
    action: "plan.update",
    request: ["PATCH", `/plans/${plan.id}`, { cost_micros: 0 }],
    target: plan.id,
    data: { name: "small", before: { cost_micros: null }, after: { cost_micros: 0 } },
  },
  {
    action: "workspace.plan",
    request: ["PATCH", `/workspace-plans/${workspaceId}`, { plan: "large", anchor_day: 5 }],
    target: workspaceId,
    data: {
      before: { plan: "unlimited", anchor_day: 1 },
      after: { plan: "large", anchor_day: 5 },
    },
  },
  {
    action: "plan.delete",
    request: ["DELETE", `/plans/${plan.id}`],
    target: plan.id,
    data: { name: "small", ...noAllowances, tokens: 5, cost_micros: 0 },
  },
  {
    action: "invitation.create",
    request: ["POST", "/invitations", { email: "new@example.com", role: "viewer" }],
    target: made,
    data: { email: "new@example.com", role: "viewer", expires_at: expect.any(String) },
  },
  {
    action: "invitation.delete",
    request: ["DELETE", `/invitations/${invitation.id}`],
    target: invitation.id,
    data: { email: "waits@example.com", role: "viewer" },
  },
  {
    action: "member.update",
    request: ["PATCH", `/members/${person.id}`, { role: "viewer" }],
    target: person.id,
    data: { before: { role: "editor" }, after: { role: "viewer" } },
  },
  {
    action: "password.reset_link",
    request: ["POST", `/members/${person.id}/reset-link`],
    target: person.id,
    data: { email: person.email, expires_at: expect.any(String) },
  },
  {
    action: "member.delete",
    request: ["DELETE", `/members/${person.id}`],
    target: person.id,
    data: { email: person.email, role: "viewer" },
  },
  {
    action: "agent.delete",
    request: ["DELETE", ofAgent],
    target: agent.id,
    data: { name: "After" },
  },
  { action: "agent.restore", request: ["POST", `${ofAgent}/restore`], target: agent.id, data: {} },
  {
    action: "agent.delete",
    request: ["DELETE", `/agents/${waiting.id}`],
    target: waiting.id,
    data: { name: "Test" },
  },
  {
    action: "provider.delete",
    request: ["DELETE", `/providers/${provider.id}`],
    target: provider.id,
    data: { name: "held" },
  },
];

/** All responses so far, as JSON. Audit entries must not contain the secrets in these responses. */
const answers: string[] = [JSON.stringify([agent, trigger, waiting, key])];

test.each(acts)(
  "$action is recorded, with actor and address, in one entry",
  async ({ action, request: [method, path, body], target, data }) => {
    const answer = await beckon.call(path, {
      method,
      body,
      headers: { "x-forwarded-for": "192.0.2.1, 203.0.113.7" },
    });
    expect(answer.status).toBeOneOf([200, 201, 204]);
    answers.push(JSON.stringify(answer.body ?? null));
    const { body: listed } = await beckon.call("/audit?limit=1");
    expect(listed.data[0]).toEqual({
      id: expect.stringMatching(/^aud_/),
      time: expect.any(String),
      actor: `key:${bootstrap}`,
      address: "203.0.113.7",
      action,
      target: typeof target === "string" ? target : target(answer.body.data),
      data,
    });
    const { rows } = await engine.query("select count(*)::int as entries from audit");
    entries += 1;
    expect(rows).toEqual([{ entries }]);
  },
);
let entries = (
  (await engine.query("select count(*)::int as entries from audit")).rows[0] as { entries: number }
).entries;

/**
 * Routes that are not in `acts`: three store nothing, and `POST /workspaces` writes several
 * entries.
 */
const exceptions = [
  "POST /agents/:agent_id/triggers/:trigger_id/preview",
  "POST /providers/:provider_id/check",
  "POST /tools/http/import",
  "POST /workspaces",
];

test("every route that can change or reveal something here was called", () => {
  const pattern = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
  const untried = managedRoutes
    .filter(({ method, path }) => method !== "GET" || /\/(token|secret)$/.test(path))
    .filter(
      (route) =>
        !acts.some(
          ({ request: [method, path] }) =>
            method === route.method && pattern(route.path).test(path),
        ),
    );
  expect(untried.map(({ method, path }) => `${method} ${path}`)).toEqual(exceptions);
});

test("no entry contains a secret", async () => {
  const secrets = [...answers.join().matchAll(/bk[a-z]_[\w-]{48}/g)].map(([secret]) => secret);
  expect(new Set(secrets).size).toBeGreaterThanOrEqual(10);
  const { rows } = await engine.query<{ text: string }>(
    "select string_agg(audit::text, ' ') as text from audit",
  );
  const text = rows[0]?.text ?? "";
  for (const secret of [...secrets, apiKey, toolSecret, senderSecret, beckon.key])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/bk[a-z]_|whsec_|v1\.[0-9a-f]{8}\./);
});

test.each([
  ["update audit set actor = 'nobody'", /only ever added to/],
  ["delete from audit", /kept for at least 30 days/],
  ["truncate audit", /only ever added to/],
])("the database rejects: %s", async (statement, reason) => {
  await expect(engine.query(statement)).rejects.toThrow(reason);
});

describe("a filter", () => {
  const find = async (query: string) => {
    const { status, body } = await beckon.call(`/audit?${query}`);
    expect(status).toBe(200);
    return body.data as {
      id: string;
      time: string;
      action: string;
      target: string;
      actor: string;
    }[];
  };

  test("shows only what matches, newest first", async () => {
    const found = await find(`target=${agent.id}&action=agent.update`);
    expect(found.map(({ target, action }) => [target, action])).toEqual(
      Array.from({ length: 2 }, () => [agent.id, "agent.update"]),
    );
    expect(found.map(({ id }) => id)).toEqual(
      found
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    expect(new Set((await find("actor=system")).map(({ actor }) => actor))).toEqual(
      new Set(["system"]),
    );
    expect(await find("actor=nobody")).toEqual([]);
  });

  test("by time includes `since` and excludes `until`", async () => {
    const [third, second, first] = await find("limit=3");
    const between = await find(`since=${second?.time}&until=${third?.time}`);
    expect(
      between.map(({ time }) => time >= (second?.time ?? "") && time < (third?.time ?? "")),
    ).not.toContain(false);
    expect(between.map(({ id }) => id)).not.toContain(third?.id);
    expect(between.map(({ id }) => id)).not.toContain(first?.id);
  });

  test("belongs to its cursor", async () => {
    const { body } = await beckon.call("/audit?limit=1&action=agent.update");
    expectError(
      await beckon.call(`/audit?limit=1&action=agent.pause&after=${body.next}`),
      400,
      "bad_request",
      /after/,
    );
    expect(
      (await beckon.call(`/audit?limit=1&action=agent.update&after=${body.next}`)).body.data.length,
    ).toBe(1);
  });

  test.each(["who=me", "since=yesterday", "limit=0"])(
    "that is invalid is rejected: %s",
    async (query) => {
      expectError(await beckon.call(`/audit?${query}`), 400, "bad_request");
    },
  );
});

describe("an export", () => {
  const lines = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("contains the complete audit as JSON Lines, however long it is", async () => {
    await engine.query(
      `insert into audit (id, workspace_id, actor, action, target, data)
        select 'aud_' || lpad(i::text, 26, '0'), 'wsp_00000000000000000000000000', 'test', 'test.fill', 'x', '{}' from generate_series(1, 1200) as i`,
    );
    const { status, headers, body } = await beckon.call("/audit/export");
    expect([status, headers.get("content-type")]).toEqual([200, "application/jsonl"]);
    const { rows } = await engine.query<{ id: string }>("select id from audit order by id desc");
    expect(lines(body).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(lines(body)[0]).toEqual((await beckon.call("/audit?limit=1")).body.data[0]);
  });

  test("accepts the same filters", async () => {
    expect(
      lines((await beckon.call("/audit/export?action=test.fill&actor=test")).body).length,
    ).toBe(1_200);
    expectError(await beckon.call("/audit/export?limit=1"), 400, "bad_request", /limit/);
    expect((await beckon.call("/audit/export?actor=nobody")).body).toBeUndefined();
  });
});

test("a workspace sees only its own audit", async () => {
  await engine.query("insert into workspaces (id, name) values ('wsp_stranger', 'Strangers')");
  const credential = await insertKey(beckon, { workspaceId: "wsp_stranger" });
  expect((await beckon.call("/audit", { credential })).body.data).toEqual([]);
  expect((await beckon.call("/audit/export", { credential })).body).toBeUndefined();
});

test("a second request to cancel adds no entry, and neither does one for a run that has ended", async () => {
  await beckon.call(`/runs/${started.run_id}/cancel`, { method: "POST" });
  const { rows } = await engine.query(
    "select count(*)::int as entries from audit where action = 'run.cancel'",
  );
  expect(rows).toEqual([{ entries: 1 }]);
});
