import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const target = await startTargetServer();
afterAll(() => target.close());

const secret = "sk-the-secret-of-the-shop-1234";
const tool = (authorization: unknown) => ({
  type: "http",
  name: "shop",
  allowed_hosts: [target.host],
  headers: { Authorization: authorization },
  operations: [{ name: "read", description: "Reads", method: "GET", url: `${target.url}/orders` }],
});
const original = await beckon.createAgent({
  name: "Ada",
  description: "First",
  instructions: "Be brief.",
  tools: [tool({ secret, prefix: "Bearer " }), { type: "clock" }],
  limits: { max_steps: 7 },
  metadata: { team: "ops" },
});
const path = `/agents/${original.id}/duplicate`;
const duplicate = async (body?: object) =>
  (await beckon.call(path, { method: "POST", body })).body.data;
const sentBy = async (agent: { id: string; token: string }) => {
  const before = target.reached.length;
  expect((await beckon.invoke(agent, "/call read {}")).status).toBe(200);
  return target.reached[before]?.headers.authorization;
};
const secretIdOf = (agent: { tools: { headers: { Authorization: { secret_id: string } } }[] }) =>
  agent.tools[0]?.headers.Authorization.secret_id;

describe("a duplicate", () => {
  test("has the same configuration, version 1 and its own token", async () => {
    const response = await beckon.call(path, { body: { name: "Berta" } });
    const { id, token, tools, created_at, updated_at, ...rest } = response.body.data;
    const source = (await beckon.call(`/agents/${original.id}`)).body.data;
    expect([
      response.status,
      response.headers.get("location"),
      response.headers.get("cache-control"),
    ]).toEqual([201, `/api/public/agents/${id}`, "no-store"]);
    expect(rest).toEqual({
      version: 1,
      name: "Berta",
      description: "First",
      instructions: "Be brief.",
      model: "demo/echo",
      model_settings: source.model_settings,
      limits: source.limits,
      metadata: { team: "ops" },
      provider_id: null,
      paused: false,
      paused_by: null,
      pause_reason: null,
    });
    expect([id === original.id, token === original.token]).toEqual([false, false]);
    expect((await beckon.invoke({ id, token }, "Hello")).body.output).toBe("Hello");
    expect((await beckon.invoke({ id, token: original.token }, "Hello")).status).toBe(401);
  });

  test.each([
    ["Ada", "Ada (copy)"],
    ["x".repeat(200), `${"x".repeat(193)} (copy)`],
    [`${"x".repeat(192)}👋`, `${"x".repeat(192)}\ufffd (copy)`],
  ])("of %s without a given name is named a copy", async (name, expected) => {
    const { id } = await beckon.createAgent({ name });
    expect((await beckon.call(`/agents/${id}/duplicate`, { method: "POST" })).body.data.name).toBe(
      expected,
    );
  });

  test("has its own copies of the tools' secrets", async () => {
    const source = await beckon.createAgent({ tools: [tool({ secret, prefix: "Bearer " })] });
    const copy = (await beckon.call(`/agents/${source.id}/duplicate`, { method: "POST" })).body
      .data;
    expect(await sentBy(copy)).toBe(`Bearer ${secret}`);
    expect(secretIdOf(copy)).not.toBe(secretIdOf(source as never));
    await beckon.call(`/agents/${source.id}`, {
      method: "PATCH",
      body: { tools: [tool({ secret: "sk-another-secret-5678" })] },
    });
    expect([await sentBy(copy), await sentBy(source)]).toEqual([
      `Bearer ${secret}`,
      "sk-another-secret-5678",
    ]);
    await beckon.call(`/agents/${copy.id}`, { method: "PATCH", body: { tools: [] } });
    expect(await sentBy(source)).toBe("sk-another-secret-5678");
  });

  test("has no triggers, is not paused and has no earlier versions", async () => {
    const source = await beckon.createAgent({ name: "One" });
    await beckon.createTrigger(source.id);
    await beckon.call(`/agents/${source.id}`, { method: "PATCH", body: { name: "Two" } });
    await beckon.call(`/agents/${source.id}/pause`, { method: "POST" });
    const copy = (await beckon.call(`/agents/${source.id}/duplicate`, { method: "POST" })).body
      .data;
    expect(copy).toMatchObject({ name: "Two (copy)", version: 1, paused: false });
    expect((await beckon.call(`/agents/${copy.id}/triggers`)).body.data).toEqual([]);
    expect((await beckon.call(`/agents/${copy.id}/versions`)).body.data).toHaveLength(1);
  });

  test("prevents the deletion of its provider, as the original does", async () => {
    const provider = await beckon.createProvider("http://127.0.0.1:9/v1");
    const source = await beckon.createAgent({ model: `${provider.name}/x` });
    const copy = (await beckon.call(`/agents/${source.id}/duplicate`, { method: "POST" })).body
      .data;
    await beckon.call(`/agents/${source.id}`, { method: "DELETE" });
    expectError(
      await beckon.call(`/providers/${provider.id}`, { method: "DELETE" }),
      409,
      "conflict",
      /Test \(copy\)/,
    );
    await beckon.call(`/agents/${copy.id}`, { method: "DELETE" });
    expect((await beckon.call(`/providers/${provider.id}`, { method: "DELETE" })).status).toBe(204);
  });

  test("is in the audit log with its origin and without secrets", async () => {
    const { id } = await duplicate({ name: "Recorded" });
    const { body } = await beckon.call(`/audit?target=${id}`);
    expect(body.data).toMatchObject([
      {
        action: "agent.duplicate",
        data: {
          name: "Recorded",
          model: "demo/echo",
          agent_id: original.id,
          version: 1,
          secrets_copied: 1,
        },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  test("is created once per Idempotency-Key", async () => {
    const send = () =>
      beckon.call(path, { body: { name: "Once" }, headers: { "idempotency-key": "dup" } });
    const responses = await Promise.all([send(), send(), send()]);
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect((await beckon.call("/agents?search=Once")).body.data).toHaveLength(1);
  });
});

test("a key limited to agents cannot duplicate, and other agents are not found for it", async () => {
  const limited = await insertKey(beckon, { agentIds: [original.id] });
  expectError(
    await beckon.call(path, { method: "POST", credential: limited }),
    403,
    "forbidden",
    /limited to some agents/,
  );
  const other = await beckon.createAgent();
  expectError(
    await beckon.call(`/agents/${other.id}/duplicate`, { method: "POST", credential: limited }),
    404,
    "not_found",
  );
});

test("an agent of another workspace, or a deleted one, cannot be duplicated", async () => {
  expectError(
    await beckon.call(path, { method: "POST", credential: await insertStranger(beckon) }),
    404,
    "not_found",
  );
  const { id } = await beckon.createAgent();
  await beckon.call(`/agents/${id}`, { method: "DELETE" });
  expectError(await beckon.call(`/agents/${id}/duplicate`, { method: "POST" }), 404, "not_found");
});
