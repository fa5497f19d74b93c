import { scopes, workspaceScopes } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { createReceivingTrigger } from "../../test/receiving-trigger-over-rest.ts";
import { statesOf } from "../../test/runs-of.ts";
import { managedRoutes } from "../http/api/index.ts";

/**
 * Tests every route with a key that is limited to some agents. The key must give access only to
 * these agents, and to their triggers and runs.
 */

const beckon = await startTestBeckon();
const create = async (body: Record<string, unknown>, credential = beckon.key) =>
  (await beckon.call("/keys", { body: { name: "Test", ...body }, credential })).body.data as {
    id: string;
    key: string;
    scopes: string[];
  };

const mine = await beckon.createAgent();
const alsoMine = await beckon.createAgent();
const theirs = await beckon.createAgent();
const triggers = {
  mine: await createReceivingTrigger(beckon, mine.id),
  theirs: await createReceivingTrigger(beckon, theirs.id),
};
const runs = {
  // The input is long, so that the run has an artifact.
  mine: (await beckon.invoke(mine, "mine ".repeat(20_000))).body.run_id,
  theirs: (await beckon.invoke(theirs, "theirs")).body.run_id,
};
const artifact: string = (await beckon.call(`/runs/${runs.mine}/events`)).body.data.find(
  ({ data }: { data: { artifact_id?: string } }) => data.artifact_id !== undefined,
).data.artifact_id;
const subscribing = { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] };
const subscribe = async (agentIds: readonly string[] | null) => {
  const body = { ...subscribing, agent_ids: agentIds };
  const { id } = (await beckon.call("/subscriptions", { body })).body.data;
  const test = await beckon.call(`/subscriptions/${id}/test`, { method: "POST" });
  return { id: id as string, deliveryId: test.body.data.id as string };
};
const subscriptions = {
  mine: await subscribe([mine.id]),
  theirs: await subscribe([mine.id, theirs.id]),
};
await subscribe(null);
const eventOf = async (agentId: string) => {
  await beckon.call(`/agents/${agentId}/pause`, { method: "POST" });
  await beckon.call(`/agents/${agentId}/resume`, { method: "POST" });
  const { rows } = await beckon.db.database.engine.query<{ id: string }>(
    "select id from workspace_events where agent_id = $1 limit 1",
    [agentId],
  );
  return rows[0]?.id ?? "";
};
const events = { mine: await eventOf(mine.id), theirs: await eventOf(theirs.id) };
const keys = {
  mine: await create({ preset: "invoke", agent_ids: [mine.id] }),
  theirs: await create({ preset: "invoke", agent_ids: [theirs.id] }),
  all: await create({ preset: "invoke" }),
};
const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
const limited = await create({ preset: "everything", agent_ids: [mine.id, alsoMine.id] });
const call = (path: string, method = "GET", body?: unknown) =>
  beckon.call(path, { method, body, credential: limited.key });

const pathTo = (path: string, whose: "mine" | "theirs") =>
  path
    .replace(":agent_id", { mine, theirs }[whose].id)
    .replace(":trigger_id", triggers[whose].id)
    .replace(":request_id", triggers[whose].requestId)
    .replace(":version", "1")
    .replace(":run_id", runs[whose])
    .replace(":artifact_id", artifact)
    .replace(":seq", "1")
    .replace(":event_id", events[whose])
    .replace(":subscription_id", subscriptions[whose].id)
    .replace(":delivery_id", subscriptions[whose].deliveryId)
    .replace(":key_id", keys[whose].id)
    .replace(":provider_id", provider.id);
const routes = managedRoutes.map(
  ({ method, path, permission }) => [method, path, permission] as const,
);
const about = routes.filter(([, path]) => /:(agent|run|key|subscription|event)_id/.test(path));

test("a preset grants only its scopes that concern agents", () => {
  expect(limited.scopes).toEqual(scopes.filter((scope) => !workspaceScopes.includes(scope)));
});

test.each(about)("%s %s: what hangs on another agent is not there", async (method, path) => {
  expectError(await call(pathTo(path, "theirs"), method), 404, "not_found");
});

// Requests other than GET are sent with an unknown field. Status 400 shows that the key has access,
// because Beckon checks access first, and a rejected request changes nothing.
test.each(about.filter(([method, path]) => method !== "DELETE" && !path.endsWith("/duplicate")))(
  "%s %s gives access to resources of the key's agents only",
  async (method, path) => {
    const { status } = await call(
      pathTo(path, "mine"),
      method,
      method === "GET" ? undefined : { nonsense: 1 },
    );
    expect(status).toBe(method === "GET" ? 200 : 400);
  },
);

test.each(routes.filter(([, , permission]) => workspaceScopes.includes(permission)))(
  "%s %s concerns the whole workspace and is rejected even if the row has the scope",
  async (method, path, permission) => {
    await beckon.db.database.engine.query("update keys set scopes = $2 where id = $1", [
      limited.id,
      [permission],
    ]);
    try {
      expectError(
        await call(pathTo(path, "mine"), method),
        403,
        "forbidden",
        /limited to some agents/,
      );
    } finally {
      await beckon.db.database.engine.query("update keys set scopes = $2 where id = $1", [
        limited.id,
        limited.scopes,
      ]);
    }
  },
);

test("every route is covered by one of these tests or listed here", () => {
  const others = routes.filter(
    ([, path, permission]) =>
      !/:(agent|run|key|subscription|event)_id/.test(path) && !workspaceScopes.includes(permission),
  );
  expect(others.map(([method, path]) => `${method} ${path}`).sort()).toEqual(
    [
      "GET /agents",
      "GET /agents/export",
      "GET /keys",
      "GET /runs",
      "GET /subscriptions",
      "POST /agents",
      "POST /agents/import",
      "POST /keys",
      // The following routes are tested in other files.
      "GET /events",
      "GET /limits",
      "GET /limits/:scope/:scope_id",
      "GET /plan",
      "GET /runs/stats",
      "GET /trigger-presets",
      "GET /usage",
      "POST /runs/cancel",
      "POST /runs/delete",
      "POST /subscriptions",
      "POST /tools/http/import",
    ].sort(),
  );
});

describe("a list contains only resources of the key's agents:", () => {
  test.each<[string, () => string[]]>([
    ["/agents", () => [alsoMine.id, mine.id]],
    ["/runs", () => [runs.mine, triggers.mine.runId]],
    ["/keys", () => [limited.id, keys.mine.id]],
    ["/subscriptions", () => [subscriptions.mine.id]],
  ])("%s", async (path, expected) => {
    const { status, body } = await call(path);
    expect([status, body.data.map(({ id }: { id: string }) => id)]).toEqual([200, expected()]);
  });

  test("also across pages, and a cursor of another key is rejected", async () => {
    const first = await call("/agents?limit=1");
    const second = await call(`/agents?limit=1&after=${first.body.next}`);
    expect([first.body.data[0].id, second.body.data[0].id, second.body.next]).toEqual([
      alsoMine.id,
      mine.id,
      null,
    ]);
    const foreign = (await beckon.call("/agents?limit=1")).body.next;
    expectError(await call(`/agents?limit=1&after=${foreign}`), 400, "bad_request", /after/);
  });
});

test.each<[string, object]>([
  ["/agents", { name: "New", model: "demo/echo" }],
  [`/agents/${mine.id}/duplicate`, {}],
  ["/agents/import", { beckon: 1, agents: [] }],
])("it cannot create agents with %s", async (path, body) => {
  expectError(await call(path, "POST", body), 403, "forbidden", /limited to some agents/);
});

describe("invoke", () => {
  test("starts runs of the key's agents", async () => {
    expect(
      (await beckon.invoke({ id: alsoMine.id, token: limited.key }, "Hello")).body.output,
    ).toBe("Hello");
  });

  test("does not find other agents and starts nothing", async () => {
    const before = await statesOf(beckon, theirs.id);
    expectError(
      await beckon.invoke({ id: theirs.id, token: limited.key }, "Hello"),
      404,
      "not_found",
    );
    expect(await statesOf(beckon, theirs.id)).toEqual(before);
  });

  test("applies a changed limit after the response", async () => {
    const { id, key } = await create({ preset: "invoke", agent_ids: [mine.id] });
    await beckon.call(`/keys/${id}`, { method: "PATCH", body: { agent_ids: [theirs.id] } });
    expectError(await beckon.invoke({ id: mine.id, token: key }, "Hello"), 404, "not_found");
    expect((await beckon.invoke({ id: theirs.id, token: key }, "Hello")).status).toBe(200);
    await beckon.call(`/keys/${id}`, { method: "PATCH", body: { agent_ids: null } });
    expect((await beckon.invoke({ id: mine.id, token: key }, "Hello")).status).toBe(200);
  });
});

describe("it cannot grant access to other agents:", () => {
  const make = (body: Record<string, unknown>) =>
    call("/keys", "POST", { name: "x", preset: "invoke", ...body });

  test("it can create a key for some of its agents", async () => {
    expect((await make({ agent_ids: [mine.id] })).status).toBe(201);
  });

  test("it cannot create one for all agents", async () => {
    expectError(await make({}), 403, "forbidden", /agent_ids/);
  });

  test("it cannot create one for an agent that it cannot see", async () => {
    expectError(
      await make({ agent_ids: [mine.id, theirs.id] }),
      404,
      "not_found",
      new RegExp(theirs.id),
    );
  });

  test("it cannot change a key to other agents", async () => {
    expectError(
      await call(`/keys/${keys.mine.id}`, "PATCH", { agent_ids: null }),
      403,
      "forbidden",
    );
    expectError(
      await call(`/keys/${limited.id}`, "PATCH", { agent_ids: [theirs.id] }),
      404,
      "not_found",
    );
    expectError(
      await call(`/keys/${keys.all.id}`, "PATCH", { agent_ids: [mine.id] }),
      404,
      "not_found",
    );
  });
});

test("agent_ids of other workspaces, deleted or unknown agents are rejected", async () => {
  const deleted = await beckon.createAgent();
  await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
  for (const id of [deleted.id, "agt_00000000000000000000000000", "x' or true --"]) {
    const body = { name: "x", preset: "invoke", agent_ids: [mine.id, id] };
    expectError(await beckon.call("/keys", { body }), 404, "not_found", /agent_ids/);
  }
});

test("agent_ids of a key can be changed after one of its agents was deleted", async () => {
  const deleted = await beckon.createAgent();
  const { id } = await create({ preset: "invoke", agent_ids: [mine.id, deleted.id] });
  await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
  const change = (agent_ids: readonly string[]) =>
    beckon.call(`/keys/${id}`, { method: "PATCH", body: { agent_ids } });
  for (const agentIds of [[mine.id, deleted.id, alsoMine.id], [deleted.id], [mine.id]])
    expect((await change(agentIds)).body.data).toMatchObject({ agent_ids: agentIds });
  expectError(await change([mine.id, deleted.id]), 404, "not_found", /agent_ids/);
});

test("a limit stays when an agent is deleted and restored", async () => {
  const agent = await beckon.createAgent();
  const { key } = await create({ preset: "invoke", agent_ids: [agent.id] });
  await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
  expectError(await beckon.invoke({ id: agent.id, token: key }, "Hello"), 404, "not_found");
  await beckon.call(`/agents/${agent.id}/restore`, { method: "POST" });
  expect((await beckon.invoke({ id: agent.id, token: key }, "Hello")).status).toBe(200);
});
