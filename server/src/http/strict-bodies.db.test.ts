import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { addPerson, password } from "../../test/people.ts";
import { defaultWorkspaceId } from "../workspaces/index.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();
const trigger = await beckon.createTrigger(agent.id);
const deleted = await beckon.createAgent();
await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
const rates = { input_micros_per_million: 1, output_micros_per_million: 1 };
const { data: price } = (
  await beckon.call("/prices", { body: { model: `${provider.name}/large`, ...rates } })
).body;
const { data: plan } = (await beckon.call("/plans", { body: { name: "test" } })).body;
const { data: key } = (await beckon.call("/keys", { body: { name: "Test", preset: "invoke" } }))
  .body;
const { body: invoked } = await beckon.invoke(agent, "Hello");
const member = await addPerson(beckon, { role: "viewer" });

const subscribing = { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] };
const { data: subscription } = (await beckon.call("/subscriptions", { body: subscribing })).body;
const ofSubscription = `/subscriptions/${subscription.id}`;
const { data: delivery } = (await beckon.call(`${ofSubscription}/test`, { method: "POST" })).body;

/** Routes that have a body, each with a valid body. */
const routes: readonly (readonly [method: string, path: string, body: Record<string, unknown>])[] =
  [
    ["POST", "/agents", { name: "Test", model: "demo/echo" }],
    ["PATCH", `/agents/${agent.id}`, {}],
    ["POST", `/agents/${agent.id}/pause`, {}],
    ["POST", `/agents/${agent.id}/resume`, {}],
    ["POST", `/agents/${deleted.id}/restore`, {}],
    ["POST", `/agents/${agent.id}/duplicate`, {}],
    ["POST", `/agents/${agent.id}/versions/1/restore`, {}],
    ["POST", "/agents/import", { beckon: 1, agents: [] }],
    ["POST", `/agents/${agent.id}/token/rotate`, {}],
    ["POST", `/agents/${agent.id}/triggers`, { name: "Test" }],
    ["PATCH", `/agents/${agent.id}/triggers/${trigger.id}`, {}],
    ["POST", `/agents/${agent.id}/triggers/${trigger.id}/rotate`, {}],
    ["POST", `/agents/${agent.id}/triggers/${trigger.id}/test`, { payload: "Hello" }],
    ["POST", `/runs/${invoked.run_id}/cancel`, {}],
    ["POST", `/runs/${invoked.run_id}/retry`, {}],
    ["POST", "/runs/cancel", { all: true }],
    ["POST", "/runs/delete", { all: true }],
    [
      "POST",
      "/providers",
      { name: "other", kind: "openai-compatible", base_url: "http://127.0.0.1:9/v1" },
    ],
    ["PATCH", `/providers/${provider.id}`, {}],
    ["POST", "/subscriptions", subscribing],
    ["PATCH", ofSubscription, {}],
    ["POST", `${ofSubscription}/pause`, {}],
    ["POST", `${ofSubscription}/resume`, {}],
    ["POST", `${ofSubscription}/rotate`, {}],
    ["POST", `${ofSubscription}/test`, {}],
    ["POST", `${ofSubscription}/replay`, { since: "2026-01-01T00:00:00Z" }],
    ["POST", `${ofSubscription}/deliveries/${delivery.id}/replay`, {}],
    ["POST", "/prices", { model: `${provider.name}/small`, ...rates }],
    ["PATCH", `/prices/${price.id}`, {}],
    ["PUT", `/limits/agent/${agent.id}`, { limit_micros: 1_000_000 }],
    ["POST", "/plans", { name: "other" }],
    ["PATCH", `/plans/${plan.id}`, {}],
    ["PATCH", `/workspace-plans/${defaultWorkspaceId}`, { plan: "unlimited" }],
    ["POST", "/tools/http/import", { document: {} }],
    ["POST", "/keys", { name: "Test", preset: "invoke" }],
    ["PATCH", `/keys/${key.id}`, {}],
    ["POST", `/keys/${key.id}/rotate`, {}],
    ["POST", "/workspaces", { name: "Test" }],
    ["PATCH", `/workspaces/${defaultWorkspaceId}`, {}],
    ["PATCH", `/members/${member.id}`, { role: "viewer" }],
    ["POST", `/members/${member.id}/reset-link`, {}],
    ["POST", "/invitations", { email: "grace@example.com", role: "viewer" }],
    ["POST", "/setup", { token: "x", name: "x", email: "ada@example.com", password }],
    ["POST", "/sign-in", { email: "ada@example.com", password }],
    ["POST", "/password/reset", { token: "x", new_password: password }],
    ["POST", "/invitations/accept", { token: "x" }],
    ["POST", "/setup/check", { token: "x" }],
    ["POST", "/invitations/check", { token: "x" }],
    ["POST", "/password/reset/check", { token: "x" }],
  ];

describe.each(routes)("%s %s", (method, path, body) => {
  test("rejects an unknown field, and names it", async () => {
    expectError(
      await beckon.call(path, { method, body: { ...body, nonsense: 1 } }),
      400,
      "bad_request",
      /unknown field nonsense\b/,
    );
  });

  test("names all unknown fields", async () => {
    const answer = await beckon.call(path, { method, body: { ...body, one: 1, Two: 2 } });
    expectError(answer, 400, "bad_request", /one.*Two/);
  });

  test("rejects a list", async () => {
    expectError(await beckon.call(path, { method, body: [body] }), 400, "bad_request");
  });
});

test("an unknown nested field is named with its path", async () => {
  const body = { name: "Test", model: "demo/echo", limits: { steps: 1 } };
  expectError(await beckon.call("/agents", { body }), 400, "bad_request", /limits\.steps/);
});

test("every invalid field is named", async () => {
  const body = { name: "", model: 5, tools: "all", limits: { max_steps: 0 } };
  expectError(
    await beckon.call("/agents", { body }),
    400,
    "bad_request",
    /name.*model.*tools.*limits\.max_steps/,
  );
});

test("a missing field is named", async () => {
  expectError(
    await beckon.call("/agents", { body: { name: "Test" } }),
    400,
    "bad_request",
    /model/,
  );
});

test("a field that the server sets cannot be sent", async () => {
  const body = { name: "Test", model: "demo/echo", id: "agt_1" };
  expectError(await beckon.call("/agents", { body }), 400, "bad_request", /\bid\b/);
});

test("a rejected body changes nothing", async () => {
  const made = await beckon.createAgent({ name: "Before" });
  await beckon.call(`/agents/${made.id}`, {
    method: "PATCH",
    body: { name: "After", nonsense: 1 },
  });
  expect((await beckon.call(`/agents/${made.id}`)).body.data).toMatchObject({
    name: "Before",
    version: 1,
  });
});

test.each([
  ["name", "a\0b"],
  ["name", "a\ud800b"],
  ["name", " \t"],
  ["name", "x".repeat(201)],
  ["instructions", "a\0b"],
  ["description", "\udc4b"],
  ["model", "demo"],
  ["model", "demo/\0"],
  ["model", "a\0/b"],
  ["model", "a\ud800/b"],
  ["model", "scripted/\ud800"],
  ["metadata", { a: "\0" }],
  ["metadata", { a: ["\ud800"] }],
  ["metadata", { "\ud800": 1 }],
  ["metadata", { a: "x".repeat(16_384) }],
  ["metadata", []],
])("an agent's %s cannot be %j", async (member, value) => {
  const answer = await beckon.call("/agents", {
    body: { name: "Test", model: "demo/echo", [member]: value },
  });
  expectError(answer, 400, "bad_request", new RegExp(member));
});

test("text that looks like an escape is text", async () => {
  const metadata = { a: String.raw`\u0000 \ud800` };
  const { body } = await beckon.call("/agents", {
    body: { name: "Test", model: "demo/echo", metadata },
  });
  expect(body.data.metadata).toEqual(metadata);
});
