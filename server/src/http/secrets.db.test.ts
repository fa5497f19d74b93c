import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";

const beckon = await startTestBeckon();
const apiKey = "sk-this-is-the-secret-of-a-provider";
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const rotated = {
  agent: await beckon.createAgent(),
  trigger: await beckon.createTrigger(agent.id),
};
const triggerPath = `/agents/${agent.id}/triggers/${trigger.id}`;
const provider = (
  await beckon.call("/providers", {
    body: {
      name: "kept",
      kind: "openai-compatible",
      base_url: "http://127.0.0.1:9/v1",
      api_key: apiKey,
    },
  })
).body.data;
const createKey = async () =>
  (await beckon.call("/keys", { body: { name: "Test", preset: "invoke" } })).body.data;
const key = await createKey();
const rotatedKey = await createKey();
const { body: invoked } = await beckon.invoke(agent, "Hello");
await beckon.call(trigger.url, { credential: null, body: "Hello" });

const subscribing = {
  url: "http://127.0.0.1:9/events",
  event_types: ["run.finished"],
  headers: { authorization: apiKey },
};
const subscription = (await beckon.call("/subscriptions", { body: subscribing })).body.data;
const ofSubscription = `/subscriptions/${subscription.id}`;
const delivery = (await beckon.call(`${ofSubscription}/test`, { method: "POST" })).body.data;

describe("caches do not store", () => {
  test.each<[string, string, string, unknown?]>([
    ["a resource", "GET", `/agents/${agent.id}`],
    ["the headers of a resource", "HEAD", `/agents/${agent.id}`],
    ["an exported file", "GET", "/agents/export"],
    ["an export of lines", "GET", "/audit/export"],
    ["an error of a resource", "GET", "/agents/unknown"],
    ["an error of the method", "PUT", "/agents"],
    ["an error of the path", "GET", "/unknown"],
    ["an error of a file of the dashboard", "GET", `${beckon.url}/assets/unknown-a1b2c3d4.js`],
    ["an invoke", "POST", `/agents/${agent.id}/invoke`, { input: "Hello" }],
    ["a fire", "POST", new URL(trigger.url).pathname.replace("/api/public", ""), {}],
  ])("%s", async (_, method, path, body) => {
    const { headers } = await beckon.call(path, { method, body });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("a run's events as JSON, which also name the header that selects the format", async () => {
    for (const path of [`/runs/${invoked.run_id}/events`, "/events"]) {
      const { headers } = await beckon.call(path);
      expect([headers.get("cache-control"), headers.get("vary")]).toEqual(["no-store", "accept"]);
    }
  });
});

test("the OpenAPI document can be stored by caches", async () => {
  const { headers } = await beckon.call(`${beckon.url}/openapi.json`, { credential: null });
  expect(headers.get("cache-control")).toBeNull();
});

describe("a response with a secret must not be cached:", () => {
  test.each<[string, string, string, unknown]>([
    ["a created agent", "POST", "/agents", { name: "Test", model: "demo/echo" }],
    ["a rotated agent token", "POST", `/agents/${rotated.agent.id}/token/rotate`, {}],
    ["a revealed agent token", "GET", `/agents/${agent.id}/token`, undefined],
    ["a duplicated agent", "POST", `/agents/${agent.id}/duplicate`, {}],
    ["a created trigger", "POST", `/agents/${agent.id}/triggers`, { name: "Test" }],
    ["a rotated trigger", "POST", `/agents/${agent.id}/triggers/${rotated.trigger.id}/rotate`, {}],
    ["a revealed trigger", "GET", `${triggerPath}/token`, undefined],
    ["a created key", "POST", "/keys", { name: "Test", preset: "invoke" }],
    ["a created subscription", "POST", "/subscriptions", subscribing],
    ["a rotated signing secret", "POST", `${ofSubscription}/rotate`, {}],
    ["a revealed signing secret", "GET", `${ofSubscription}/secret`, undefined],
    ["a rotated key", "POST", `/keys/${rotatedKey.id}/rotate`, {}],
  ])("%s", async (_, method, path, body) => {
    const answer = await beckon.call(path, { method, body });
    const { token, key, secret } = answer.body.data;
    expect(token ?? key ?? secret).toMatch(/^(bk[atw]_[\w-]{48}|whsec_[\w+/]{43}=)$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});

test.each([
  "/agents",
  `/agents/${agent.id}`,
  "/agents/export",
  `/agents/${agent.id}/export`,
  `/agents/${agent.id}/versions`,
  `/agents/${agent.id}/versions/1`,
  `/agents/${agent.id}/versions/1/compare`,
  `/agents/${agent.id}/triggers`,
  triggerPath,
  "/runs",
  `/agents/${agent.id}/runs`,
  `/runs/${invoked.run_id}`,
  `/runs/${invoked.run_id}/events`,
  "/providers",
  `/providers/${provider.id}`,
  "/keys",
  `/keys/${key.id}`,
  "/subscriptions",
  ofSubscription,
  `${ofSubscription}/deliveries`,
  `${ofSubscription}/deliveries/${delivery.id}`,
  "/audit?limit=200",
])("GET %s shows no secret", async (path) => {
  const { status, body } = await beckon.call(path);
  expect(status).toBe(200);
  const text = JSON.stringify(body);
  for (const secret of [agent.token, trigger.token, apiKey, key.key, beckon.key])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/sealed|"hash"|v1\.[0-9a-f]{8}\.|triggers\/bkt_|whsec_|"token"|"key"/);
});

test.each<[string, string, unknown]>([
  ["PATCH", `/agents/${agent.id}`, { name: "Renamed" }],
  ["POST", `/agents/${agent.id}/pause`, {}],
  ["POST", `/agents/${agent.id}/resume`, {}],
  ["PATCH", triggerPath, { name: "Renamed" }],
  ["PATCH", `/providers/${provider.id}`, { api_key: apiKey }],
  ["PATCH", `/keys/${key.id}`, { name: "Renamed" }],
  ["PATCH", ofSubscription, { headers: subscribing.headers }],
  ["POST", `${ofSubscription}/deliveries/${delivery.id}/replay`, {}],
  ["POST", `${ofSubscription}/pause`, {}],
  ["POST", `${ofSubscription}/resume`, {}],
])("%s %s shows no secret", async (method, path, body) => {
  const answer = await beckon.call(path, { method, body });
  expect(answer.status).toBe(200);
  const text = JSON.stringify(answer.body);
  for (const secret of [agent.token, trigger.token, apiKey, key.key])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/triggers\/bkt_|whsec_|"token"|"key"/);
});

test("the database contains no secret in plain text", async () => {
  const { engine } = beckon.db.database;
  const { rows: tables } = await engine.query<{ name: string }>(
    "select format('%I', table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  for (const { name } of tables) {
    const { rows } = await engine.query<{ found: boolean }>(
      `select coalesce(bool_or(strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0 or strpos(t::text, $3) > 0 or strpos(t::text, $4) > 0 or strpos(t::text, $5) > 0 or strpos(t::text, $6) > 0), false) as found
        from ${name} as t`,
      [agent.token, trigger.token, apiKey, beckon.key, key.key, subscription.secret],
    );
    expect([name, rows[0]?.found]).toEqual([name, false]);
  }
});

test("the error for an invalid credential does not repeat it", async () => {
  const { body } = await beckon.call("/agents", { credential: "guessed-secret" });
  expect(JSON.stringify(body)).not.toContain("guessed-secret");
});

test("the error for a rejected body does not repeat it", async () => {
  const body = `{"name":"x","kind":"openai-compatible","api_key":"${apiKey}", oops`;
  const answer = await beckon.call("/providers", {
    body,
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).not.toContain(apiKey);
});
