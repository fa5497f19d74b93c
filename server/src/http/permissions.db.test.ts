import { roleScopes } from "@beckon/contract";
import { describe, expect, test } from "vitest";
import { artifactOf, longInput } from "../../test/artifact-of.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson } from "../../test/people.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";
import { managedRoutes } from "./api/index.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const other = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const receiver = await beckon.createTrigger(agent.id, {
  receiving: { form: { honeypot: "website" } },
});
const ofReceiver = `/agents/${agent.id}/triggers/${receiver.id}`;
// The honeypot field has a value, so this request is stored and starts no run.
await beckon.call(receiver.url, {
  credential: null,
  body: "website=x",
  headers: { "content-type": "application/x-www-form-urlencoded" },
});
await beckon.call(`${ofReceiver}/secret`, { method: "POST" });
const [received] = (await beckon.call(`${ofReceiver}/requests`)).body.data;
const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
const { data: price } = (
  await beckon.call("/prices", {
    body: {
      model: `${provider.name}/large`,
      input_micros_per_million: 1,
      output_micros_per_million: 1,
    },
  })
).body;
// A credential can rotate a key only if it has all of the key's scopes. So the key below has only
// the scope `keys:write`, which every credential that rotates it in these tests has too.
const { data: key } = (
  await beckon.call("/keys", { body: { name: "Test", scopes: ["keys:write"] } })
).body;
const member = await addPerson(beckon, { role: "viewer" });
const { data: invitation } = (
  await beckon.call("/invitations", { body: { email: "grace@example.com", role: "viewer" } })
).body;
const { body: own } = await beckon.invoke(agent, "mine");
const { body: long } = await beckon.invoke(await beckon.createAgent(), longInput);
const artifactId = await artifactOf(beckon, long.run_id);
const { body: foreign } = await beckon.invoke(other, "theirs");
const { data: plan } = (await beckon.call("/plans", { body: { name: "test" } })).body;
await beckon.call(`/limits/agent/${agent.id}`, {
  method: "PUT",
  body: { limit_micros: 1_000_000 },
});
const { data: subscription } = (
  await beckon.call("/subscriptions", {
    body: { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] },
  })
).body;
const ofSubscription = `/subscriptions/${subscription.id}`;
const { data: delivery } = (await beckon.call(`${ofSubscription}/test`, { method: "POST" })).body;
await beckon.call(`/agents/${other.id}/pause`, { method: "POST" });
await beckon.call(`/agents/${other.id}/resume`, { method: "POST" });
const event = await eventually("the event of the pause", async () => {
  const { body } = await beckon.call("/events?kind=agent.paused");
  return body.data[0] as { id: string } | undefined;
});
const stranger = await insertStranger(beckon);

/**
 * Every route of the management API with a scope that it needs, on existing resources. A route that
 * needs two scopes is listed twice.
 */
const routes: readonly (readonly [scope: string, method: string, path: string])[] = [
  ["agents:write", "POST", "/agents"],
  ["agents:read", "GET", "/agents"],
  ["agents:read", "GET", `/agents/${agent.id}`],
  ["agents:write", "PATCH", `/agents/${agent.id}`],
  ["agents:write", "DELETE", `/agents/${agent.id}`],
  ["agents:write", "POST", `/agents/${agent.id}/restore`],
  ["agents:write", "POST", `/agents/${agent.id}/duplicate`],
  ["agents:read", "GET", `/agents/${agent.id}/versions`],
  ["agents:read", "GET", `/agents/${agent.id}/versions/1`],
  ["agents:read", "GET", `/agents/${agent.id}/versions/1/compare`],
  ["agents:write", "POST", `/agents/${agent.id}/versions/1/restore`],
  ["agents:read", "GET", "/agents/export"],
  ["agents:read", "GET", `/agents/${agent.id}/export`],
  ["agents:write", "POST", "/agents/import"],
  ["agents:write", "POST", `/agents/${agent.id}/pause`],
  ["agents:write", "POST", `/agents/${agent.id}/resume`],
  ["agents:write", "POST", `/agents/${agent.id}/token/rotate`],
  ["agents:write", "GET", `/agents/${agent.id}/token`],
  ["agents:write", "DELETE", `/agents/${agent.id}/token`],
  ["triggers:write", "POST", `/agents/${agent.id}/triggers`],
  ["triggers:read", "GET", `/agents/${agent.id}/triggers`],
  ["triggers:read", "GET", `/agents/${agent.id}/triggers/${trigger.id}`],
  ["triggers:write", "PATCH", `/agents/${agent.id}/triggers/${trigger.id}`],
  ["triggers:write", "DELETE", `/agents/${agent.id}/triggers/${trigger.id}`],
  ["triggers:write", "POST", `/agents/${agent.id}/triggers/${trigger.id}/rotate`],
  ["triggers:write", "POST", `/agents/${agent.id}/triggers/${trigger.id}/test`],
  ["agents:invoke", "POST", `/agents/${agent.id}/triggers/${trigger.id}/test`],
  ["triggers:write", "GET", `/agents/${agent.id}/triggers/${trigger.id}/token`],
  ["triggers:write", "POST", `${ofReceiver}/secret`],
  ["triggers:write", "GET", `${ofReceiver}/secret`],
  ["triggers:write", "POST", `${ofReceiver}/listen`],
  ["triggers:write", "DELETE", `${ofReceiver}/listen`],
  ["triggers:read", "POST", `${ofReceiver}/preview`],
  ["triggers:read", "GET", `${ofReceiver}/requests`],
  ["triggers:read", "GET", `${ofReceiver}/requests/${received.id}`],
  ["runs:read", "GET", `${ofReceiver}/requests/${received.id}`],
  ["triggers:write", "POST", `${ofReceiver}/requests/${received.id}/replay`],
  ["agents:invoke", "POST", `${ofReceiver}/requests/${received.id}/replay`],
  ["triggers:write", "POST", `${ofReceiver}/requests/replay`],
  ["triggers:write", "DELETE", `${ofReceiver}/requests/${received.id}`],
  ["agents:invoke", "POST", `${ofReceiver}/requests/replay`],
  ["triggers:read", "GET", "/trigger-presets"],
  ["runs:read", "GET", "/runs"],
  ["runs:read", "GET", `/agents/${agent.id}/runs`],
  ["runs:read", "GET", "/runs/stats"],
  ["runs:read", "GET", `/runs/${own.run_id}`],
  ["runs:read", "GET", `/runs/${own.run_id}/events`],
  ["runs:read", "GET", `/runs/${long.run_id}/artifacts/${artifactId}`],
  ["agents:write", "POST", `/agents/${agent.id}/draft-runs`],
  ["agents:invoke", "POST", `/agents/${agent.id}/draft-runs`],
  ["runs:write", "POST", `/runs/${own.run_id}/cancel`],
  ["runs:write", "POST", "/runs/cancel"],
  ["runs:write", "POST", `/runs/${own.run_id}/retry`],
  ["runs:write", "POST", "/runs/delete"],
  ["runs:write", "DELETE", `/runs/${own.run_id}`],
  ["runs:read", "GET", "/events"],
  ["runs:read", "GET", `/events/${event.id}`],
  ["runs:read", "GET", `/runs/${own.run_id}/events/1`],
  ["subscriptions:write", "POST", "/subscriptions"],
  ["subscriptions:read", "GET", "/subscriptions"],
  ["subscriptions:read", "GET", ofSubscription],
  ["subscriptions:write", "PATCH", ofSubscription],
  ["subscriptions:write", "DELETE", ofSubscription],
  ["subscriptions:write", "POST", `${ofSubscription}/pause`],
  ["subscriptions:write", "POST", `${ofSubscription}/resume`],
  ["subscriptions:write", "POST", `${ofSubscription}/rotate`],
  ["subscriptions:write", "GET", `${ofSubscription}/secret`],
  ["subscriptions:write", "POST", `${ofSubscription}/test`],
  ["subscriptions:write", "POST", `${ofSubscription}/replay`],
  ["subscriptions:read", "GET", `${ofSubscription}/deliveries`],
  ["subscriptions:read", "GET", `${ofSubscription}/deliveries/${delivery.id}`],
  ["subscriptions:write", "POST", `${ofSubscription}/deliveries/${delivery.id}/replay`],
  ["subscriptions:read", "GET", `/runs/${own.run_id}/deliveries`],
  ["runs:read", "GET", `/runs/${own.run_id}/deliveries`],
  ["providers:write", "POST", "/providers"],
  ["providers:read", "GET", "/providers"],
  ["providers:read", "GET", "/models"],
  ["providers:read", "GET", `/providers/${provider.id}`],
  ["providers:write", "PATCH", `/providers/${provider.id}`],
  ["providers:write", "DELETE", `/providers/${provider.id}`],
  ["limits:write", "POST", "/prices"],
  ["providers:read", "GET", "/prices"],
  ["providers:read", "GET", `/prices/${price.id}`],
  ["limits:write", "PATCH", `/prices/${price.id}`],
  ["limits:write", "DELETE", `/prices/${price.id}`],
  ["agents:write", "POST", "/tools/http/import"],
  ["keys:write", "POST", "/keys"],
  ["keys:read", "GET", "/keys"],
  ["keys:read", "GET", `/keys/${key.id}`],
  ["keys:write", "PATCH", `/keys/${key.id}`],
  ["keys:write", "DELETE", `/keys/${key.id}`],
  ["keys:write", "POST", `/keys/${key.id}/rotate`],
  ["usage:read", "GET", "/usage"],
  ["usage:read", "GET", "/plan"],
  ["usage:read", "GET", "/limits"],
  ["usage:read", "GET", `/limits/agent/${agent.id}`],
  ["limits:write", "PUT", `/limits/agent/${agent.id}`],
  ["limits:write", "DELETE", `/limits/agent/${agent.id}`],
  ["plans:write", "GET", "/plans"],
  ["plans:write", "POST", "/plans"],
  ["plans:write", "GET", `/plans/${plan.id}`],
  ["plans:write", "PATCH", `/plans/${plan.id}`],
  ["plans:write", "DELETE", `/plans/${plan.id}`],
  ["plans:write", "GET", "/workspace-plans"],
  ["plans:write", "PATCH", `/workspace-plans/${defaultWorkspaceId}`],
  ["audit:read", "GET", "/audit"],
  ["audit:read", "GET", "/audit/export"],
  ["providers:write", "POST", `/providers/${provider.id}/check`],
  ["workspaces:read", "GET", "/workspaces"],
  ["workspaces:own", "POST", "/workspaces"],
  ["workspaces:read", "GET", `/workspaces/${defaultWorkspaceId}`],
  ["workspaces:write", "PATCH", `/workspaces/${defaultWorkspaceId}`],
  ["members:read", "GET", "/members"],
  ["members:write", "PATCH", `/members/${member.id}`],
  ["members:write", "DELETE", `/members/${member.id}`],
  ["workspaces:own", "POST", `/members/${member.id}/reset-link`],
  ["members:read", "GET", "/invitations"],
  ["members:write", "POST", "/invitations"],
  ["members:write", "DELETE", `/invitations/${invitation.id}`],
];
const scopes = [...new Set(routes.map(([scope]) => scope))];

const allNeededBy = (method: string, path: string) =>
  routes.filter((route) => route[1] === method && route[2] === path).map(([scope]) => scope);

test("this file lists all managed routes", () => {
  const listed = (method: string, path: string) => {
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
    return routes.some(([, ...route]) => route[0] === method && pattern.test(route[1]));
  };
  expect(
    managedRoutes
      .filter(({ method, path }) => !listed(method, path))
      .map(({ method, path }) => `${method} ${path}`),
  ).toEqual([]);
});

test.each(routes)("all scopes except %s do not allow %s %s", async (needed, method, path) => {
  const credential = await insertKey(beckon, {
    scopes: scopes.filter((scope) => scope !== needed),
  });
  expectError(
    await beckon.call(path, { method, credential }),
    403,
    "forbidden",
    new RegExp(needed),
  );
});

test.each(routes.filter(([, method]) => method === "GET"))(
  "the scope %s allows %s %s",
  async (_, method, path) => {
    expect(
      (
        await beckon.call(path, {
          method,
          credential: await insertKey(beckon, { scopes: allNeededBy(method, path) }),
        })
      ).status,
    ).toBe(200);
  },
);

/** A link to set a new password also needs all scopes of the role of `member`. */
const alsoNeededBy = (path: string) => (path.endsWith("/reset-link") ? roleScopes.viewer : []);

// None of these requests has a valid body, so that the resources do not change.
test.each(routes.filter(([, method]) => ["POST", "PUT", "PATCH"].includes(method)))(
  "the scope %s allows %s %s",
  async (_, method, path) => {
    const credential = await insertKey(beckon, {
      scopes: [...allNeededBy(method, path), ...alsoNeededBy(path)],
    });
    const answer = await beckon.call(path, { method, credential, body: { nonsense: 1 } });
    expectError(answer, 400, "bad_request", /nonsense/);
  },
);

describe("an agent token", () => {
  const asAgent = (path: string, method = "GET") =>
    beckon.call(path, { method, credential: agent.token });

  test.each(
    routes
      .filter(([scope]) => !scope.startsWith("runs:"))
      .map(([, method, path]) => [method, path] as const),
  )("is rejected at %s %s with 403", async (method, path) => {
    expectError(await asAgent(path, method), 403, "forbidden", /agent token/);
  });

  test("reads a run of its agent", async () => {
    const { status, body } = await asAgent(`/runs/${own.run_id}`);
    expect([status, body.data.input]).toEqual([200, "mine"]);
  });

  test("reads the events of a run of its agent", async () => {
    const { status, body } = await asAgent(`/runs/${own.run_id}/events`);
    expect([status, body.data[0].run_id]).toEqual([200, own.run_id]);
  });

  test("cancels a run of its agent", async () => {
    expect((await asAgent(`/runs/${own.run_id}/cancel`, "POST")).status).toBe(200);
  });

  test.each([
    ["POST", `/runs/${own.run_id}/retry`],
    ["DELETE", `/runs/${own.run_id}`],
    ["POST", "/runs/delete"],
  ])("is rejected at %s %s with 403, although the run is its agent's", async (method, path) => {
    expectError(await asAgent(path, method), 403, "forbidden", /agent token/);
  });

  test.each(["/runs", `/agents/${agent.id}/runs`])(
    "finds only runs of its agent at %s",
    async (path) => {
      const { status, body } = await asAgent(path);
      expect([status, body.data.map((run: { id: string }) => run.id)]).toEqual([200, [own.run_id]]);
    },
  );

  test.each([
    ["GET", `/runs/${foreign.run_id}`],
    ["GET", `/runs/${foreign.run_id}/events`],
    ["POST", `/runs/${foreign.run_id}/cancel`],
    ["GET", `/agents/${other.id}/runs`],
    ["GET", "/agents/agt_00000000000000000000000000/runs"],
  ])("gets not_found at %s %s", async (method, path) => {
    expectError(await asAgent(path, method), 404, "not_found");
  });

  test("in its grace period reads its agent's runs too", async () => {
    const made = await beckon.createAgent();
    await beckon.call(`/agents/${made.id}/token/rotate`, { body: { grace_seconds: 60 } });
    expect((await beckon.call("/runs", { credential: made.token })).status).toBe(200);
  });
});

describe("a key of another workspace", () => {
  test.each(
    routes
      .filter(([, , path]) => /\/[a-z]{3}_/.test(path))
      .map(([, method, path]) => [method, path] as const),
  )("gets not_found at %s %s", async (method, path) => {
    expectError(await beckon.call(path, { method, credential: stranger }), 404, "not_found");
  });

  test.each(["/agents", "/runs", "/providers"])("finds an empty list at %s", async (path) => {
    const { status, body } = await beckon.call(path, { credential: await insertStranger(beckon) });
    expect([status, body]).toEqual([200, { ok: true, data: [], next: null }]);
  });

  test("gets not_found when it invokes an agent", async () => {
    expectError(await beckon.invoke({ id: agent.id, token: stranger }, "Hello"), 404, "not_found");
  });

  test("cannot use a provider of this workspace in an agent", async () => {
    const credential = await insertStranger(beckon);
    const answer = await beckon.call("/agents", {
      credential,
      body: { name: "Test", model: `${provider.name}/x` },
    });
    expectError(answer, 400, "bad_request", /model/);
  });

  test("can use a name that a provider here has", async () => {
    const body = {
      name: provider.name,
      kind: "openai-compatible",
      base_url: "http://127.0.0.1:9/v1",
    };
    expect(
      (await beckon.call("/providers", { credential: await insertStranger(beckon), body })).status,
    ).toBe(201);
  });
});
