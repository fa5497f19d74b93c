import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();

const isReplay = ({ headers }: Answer) => headers.get("idempotency-replayed") === "true";
const create = (key: string, { name = "Test", credential = beckon.key } = {}) =>
  beckon.call("/agents", {
    credential,
    body: { name, model: "demo/echo" },
    headers: { "idempotency-key": key },
  });

/** Returns routes that accept an Idempotency-Key, each with a valid body and its success status. */
async function routes() {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { receiving: {} });
  const deleted = await beckon.createAgent();
  await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
  const key = (await beckon.call("/keys", { body: { name: "Test", preset: "invoke" } })).body.data;
  const provider = await beckon.createProvider("http://127.0.0.1:9/v1", `q${agent.id.slice(-20)}`);
  return {
    "create an agent": { path: "/agents", body: { name: "Test", model: "demo/echo" }, status: 201 },
    "create a trigger": {
      path: `/agents/${agent.id}/triggers`,
      body: { name: "Test" },
      status: 201,
    },
    "create a provider": {
      path: "/providers",
      body: {
        name: `p${agent.id.slice(-20)}`,
        kind: "openai-compatible",
        base_url: "http://127.0.0.1:9/v1",
      },
      status: 201,
    },
    "set a price": {
      path: "/prices",
      body: {
        model: `${provider.name}/large`,
        input_micros_per_million: 1,
        output_micros_per_million: 1,
      },
      status: 201,
    },
    "create a plan": { path: "/plans", body: { name: `l${agent.id.slice(-20)}` }, status: 201 },
    "rotate an agent's token": {
      path: `/agents/${agent.id}/token/rotate`,
      body: { grace_seconds: 9 },
      status: 200,
    },
    "rotate a trigger's token": {
      path: `/agents/${agent.id}/triggers/${trigger.id}/rotate`,
      body: { grace_seconds: 9 },
      status: 200,
    },
    "create a key": { path: "/keys", body: { name: "Test", preset: "invoke" }, status: 201 },
    "rotate a key": { path: `/keys/${key.id}/rotate`, body: { grace_seconds: 9 }, status: 200 },
    "restore an agent": { path: `/agents/${deleted.id}/restore`, body: {}, status: 200 },
    "duplicate an agent": {
      path: `/agents/${agent.id}/duplicate`,
      body: { name: "Other" },
      status: 201,
    },
    "restore a version": { path: `/agents/${agent.id}/versions/1/restore`, body: {}, status: 200 },
    "import agents": {
      path: "/agents/import",
      body: {
        beckon: 1,
        agents: [{ name: "Test", model: "demo/echo", triggers: [{ name: "Test" }] }],
      },
      status: 200,
    },
    "pause an agent": {
      path: `/agents/${agent.id}/pause`,
      body: { reason: "Holiday" },
      status: 200,
    },
    "resume an agent": { path: `/agents/${agent.id}/resume`, body: {}, status: 200 },
    "listen for a sample": {
      path: `/agents/${agent.id}/triggers/${trigger.id}/listen`,
      body: { seconds: 60 },
      status: 200,
    },
    "cancel runs": { path: "/runs/cancel", body: { filter: { agent_id: agent.id } }, status: 200 },
    "delete runs": { path: "/runs/delete", body: { filter: { agent_id: agent.id } }, status: 200 },
  };
}
type RouteName = keyof Awaited<ReturnType<typeof routes>>;
const names: readonly RouteName[] = [
  "create an agent",
  "create a trigger",
  "create a provider",
  "set a price",
  "create a plan",
  "rotate an agent's token",
  "rotate a trigger's token",
  "create a key",
  "rotate a key",
  "restore an agent",
  "duplicate an agent",
  "restore a version",
  "import agents",
  "pause an agent",
  "resume an agent",
  "listen for a sample",
  "cancel runs",
  "delete runs",
];

describe.each(names)("a repeated request to %s", (name) => {
  test("gets the stored response, secrets and status included, and says so", async () => {
    const { path, body, status } = (await routes())[name];
    const send = () => beckon.call(path, { body, headers: { "idempotency-key": "stored" } });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status, isReplay(first), isReplay(second)]).toEqual([
      status,
      status,
      false,
      true,
    ]);
    expect(second.body).toEqual(first.body);
    for (const header of ["location", "cache-control"])
      expect(second.headers.get(header)).toBe(first.headers.get(header));
  });

  test("is rejected with 422 if its body differs", async () => {
    const { path, body } = (await routes())[name];
    const send = (text: string) =>
      beckon.call(path, {
        body: text,
        headers: { "idempotency-key": "mismatch", "content-type": "application/json" },
      });
    await send(JSON.stringify(body));
    expectError(await send(`${JSON.stringify(body)} `), 422, "idempotency_mismatch");
  });
});

test("a repeated creation creates one agent", async () => {
  await create("one agent", { name: "Only one" });
  await create("one agent", { name: "Only one" });
  const { body } = await beckon.call("/agents?limit=200");
  expect(body.data.filter((agent: { name: string }) => agent.name === "Only one").length).toBe(1);
});

test("after a repeated rotation the returned token is valid", async () => {
  const agent = await beckon.createAgent();
  const rotate = () =>
    beckon.call(`/agents/${agent.id}/token/rotate`, {
      method: "POST",
      headers: { "idempotency-key": "k" },
    });
  const { token } = (await rotate()).body.data;
  await rotate();
  expect((await beckon.invoke({ id: agent.id, token }, "Hello")).status).toBe(200);
});

test("a stored response is returned unchanged although the resource has changed since", async () => {
  const { data } = (await create("old answer", { name: "Before" })).body;
  await beckon.call(`/agents/${data.id}`, { method: "PATCH", body: { name: "After" } });
  const again = await create("old answer", { name: "Before" });
  expect(again.body.data).toEqual(data);
});

test("a stored response is encrypted", async () => {
  const { data } = (await create("sealed")).body;
  const { rows } = await beckon.db.database.engine.query<{ answer: string }>(
    "select answer from idempotency where key = 'sealed'",
  );
  expect(rows[0]?.answer).toMatch(/^v1\./);
  expect(rows[0]?.answer).not.toContain(data.token);
});

test("the same key of another principal is a new request", async () => {
  const first = await create("principals");
  const second = await create("principals", { credential: await insertKey(beckon) });
  expect([second.status, isReplay(second)]).toEqual([201, false]);
  expect(second.body.data.id).not.toBe(first.body.data.id);
});

test("the same key at another path is a new request", async () => {
  const [one, other] = [await beckon.createAgent(), await beckon.createAgent()];
  const rotate = (id: string) =>
    beckon.call(`/agents/${id}/token/rotate`, {
      method: "POST",
      headers: { "idempotency-key": "paths" },
    });
  await rotate(one.id);
  expect(isReplay(await rotate(other.id))).toBe(false);
});

test("a key in quotes is the same key", async () => {
  const first = await create("quoted");
  const second = await create('"quoted"');
  expect([second.body, isReplay(second)]).toEqual([first.body, true]);
});

test("a rejected request does not bind the key", async () => {
  const rejected = await create("refused", { name: "" });
  expect(rejected.status).toBe(400);
  const answer = await create("refused", { name: "Good" });
  expect([answer.status, isReplay(answer)]).toEqual([201, false]);
});

test("a principal that has lost the scope is rejected before its key is looked up", async () => {
  const credential = await insertKey(beckon, { scopes: ["agents:write"] });
  await create("lost scope", { credential });
  await beckon.db.database.engine.query(
    "update keys set scopes = '{}' where scopes = '{agents:write}'",
  );
  expectError(await create("lost scope", { credential }), 403, "forbidden");
});

test("simultaneous requests with one key create one agent", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => create("same moment")));
  expect(
    new Set(answers.map(({ status, body }) => `${status} ${body.data.id} ${body.data.token}`)).size,
  ).toBe(1);
  expect(answers.filter((answer) => !isReplay(answer)).length).toBe(1);
});
