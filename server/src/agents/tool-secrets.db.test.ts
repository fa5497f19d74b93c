import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { type Behaviour, says } from "../../test/model-server.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const target = await startTargetServer();
const elsewhere = await startTargetServer();
afterAll(() => Promise.all([target.close(), elsewhere.close()]));
beforeEach(() => {
  target.reached.length = 0;
  elsewhere.reached.length = 0;
});

const secret = "sk-first-secret-of-the-shop-1234";
const operation = {
  name: "read",
  description: "Reads",
  method: "GET",
  url: `${target.url}/orders`,
};
const tool = (authorization: unknown, change: object = {}) => ({
  type: "http",
  name: "shop",
  allowed_hosts: [target.host],
  headers: { Authorization: authorization },
  operations: [operation],
  ...change,
});
const given = (text: string) => ({ secret: text, prefix: "Bearer " });
type Agent = { id: string; token: string };
const create = (authorization: unknown = given(secret)) =>
  beckon.createAgent({ tools: [tool(authorization)] });
const change = (agent: Agent, tools: unknown) =>
  beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { tools } });
const shownBy = (body: { data: { tools: { headers: Record<string, unknown> }[] } }) =>
  body.data.tools[0]?.headers.Authorization;
const shown = async (agent: Agent) => shownBy((await beckon.call(`/agents/${agent.id}`)).body);
/**
 * Invokes the agent's tool and returns the `Authorization` header of the tool's request; undefined
 * if the tool sent no request or no such header.
 */
async function sent(agent: Agent): Promise<unknown> {
  const before = target.reached.length;
  expect((await beckon.invoke(agent, "/call read {}")).status).toBe(200);
  return target.reached[before]?.headers.authorization;
}

test("every response shows a secret's last four characters, and the tool sends the whole secret", async () => {
  const agent = await create();
  const expected = {
    secret_id: expect.stringMatching(/^sec_/),
    secret_last4: "1234",
    prefix: "Bearer ",
  };
  expect(shownBy({ data: agent as never })).toEqual(expected);
  expect(await shown(agent)).toEqual(expected);
  const { body } = await beckon.call("/agents");
  expect(JSON.stringify(body)).not.toContain(secret);
  expect(await sent(agent)).toBe(`Bearer ${secret}`);
});

test("no response, event, audit entry or table contains a secret that the target server echoes", async () => {
  const agent = await create();
  const { body: invoked } = await beckon.invoke(agent, "/call read {}");
  expect(target.reached.at(-1)?.headers.authorization).toContain(secret);
  expect(invoked.output).toContain("[secret]");
  const responses = [invoked];
  for (const path of [
    `/agents/${agent.id}`,
    `/runs/${invoked.run_id}`,
    `/runs/${invoked.run_id}/events`,
  ])
    responses.push((await beckon.call(path)).body);
  expect(JSON.stringify(responses)).not.toContain(secret);
  const { engine } = beckon.db.database;
  const tables = await engine.query<{ name: string }>(
    "select format('%I', table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  for (const { name } of tables.rows) {
    const { rows } = await engine.query<{ found: boolean | null }>(
      `select bool_or(strpos(t::text, $1) > 0) as found from ${name} as t`,
      [secret],
    );
    expect([name, rows[0]?.found ?? false]).toEqual([name, false]);
  }
});

test("an update with the secret's reference keeps the secret, also when the tool is renamed", async () => {
  const agent = await create();
  const reference = await shown(agent);
  const { status, body } = await change(agent, [tool(reference, { name: "renamed" })]);
  expect([status, shownBy(body)]).toEqual([200, reference]);
  expect(await sent(agent)).toBe(`Bearer ${secret}`);
  // A change of other fields keeps the tools and their secrets.
  await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { description: "x" } });
  expect(await shown(agent)).toEqual(reference);
});

test("an update with the same tools adds a version only if it has a new secret", async () => {
  const agent = await create();
  const versionAfter = async (authorization: unknown) =>
    (await change(agent, [tool(authorization)])).body.data.version;
  expect(await versionAfter(await shown(agent))).toBe(1);
  expect(await versionAfter(given("sk-second-secret-of-the-shop-9876"))).toBe(2);
});

test("a new secret replaces the old one, also for earlier versions", async () => {
  const agent = await create();
  const before = (await shown(agent)) as { secret_id: string };
  const { body } = await change(agent, [tool(given("sk-second-secret-of-the-shop-9876"))]);
  expect(shownBy(body)).toEqual({ ...before, secret_last4: "9876" });
  expect(await sent(agent)).toBe("Bearer sk-second-secret-of-the-shop-9876");
  const { rows } = await beckon.db.database.engine.query(
    "select id from agent_secrets where agent_id = $1",
    [agent.id],
  );
  expect(rows).toHaveLength(1);
});

/** A model that calls the tool `read` once and then outputs the tool's result. */
const callsOnce: Behaviour = (request, index) => {
  const last = request.body.messages.at(-1);
  return (
    last?.role === "tool"
      ? says(last.content ?? "")
      : says({ calls: [{ id: "c1", name: "read", arguments: "{}" }] })
  )(request, index);
};

test("a running run with an older version uses the new secret, and its call fails if the secret was deleted", async () => {
  const held = await startHeldModel(beckon, callsOnce);
  const [changed, emptied] = await Promise.all(
    [1, 2].map(() => beckon.createAgent({ model: held.model, tools: [tool(given(secret))] })),
  );
  if (changed === undefined || emptied === undefined) throw new Error("there are two");
  const responses = [beckon.invoke(changed, "go"), beckon.invoke(emptied, "go")];
  await held.reached(2);
  await change(changed, [
    tool(given("sk-second-secret-of-the-shop-9876"), {
      operations: [{ ...operation, name: "renamed" }],
    }),
  ]);
  await change(emptied, []);
  held.release();
  const [first, second] = await Promise.all(responses);
  expect(target.reached.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer sk-second-secret-of-the-shop-9876",
  ]);
  expect(first?.body).toMatchObject({ ok: true, output: expect.stringContaining("[secret]") });
  expect(second?.body).toMatchObject({
    ok: true,
    output: expect.stringMatching(
      /read was not called: its credential was never entered, was deleted,/,
    ),
  });
});

test("a running run with an older version does not send the new secret to an origin it was not given for", async () => {
  const held = await startHeldModel(beckon, callsOnce);
  const agent = await beckon.createAgent({ model: held.model, tools: [tool(given(secret))] });
  const response = beckon.invoke(agent, "go");
  await held.reached(1);
  const moved = {
    allowed_hosts: [elsewhere.host],
    operations: [{ ...operation, url: `${elsewhere.url}/orders` }],
  };
  expect(
    (await change(agent, [tool(given("sk-secret-of-the-other-shop-9876"), moved)])).status,
  ).toBe(200);
  held.release();
  expect((await response).body).toMatchObject({
    ok: true,
    output: expect.stringMatching(/credential was never .* is not bound to this origin/),
  });
  expect(target.reached).toEqual([]);
});

test("a secret that is removed from the tools is deleted", async () => {
  const agent = await create();
  await change(agent, [tool("nothing secret")]);
  const { rows } = await beckon.db.database.engine.query(
    "select id from agent_secrets where agent_id = $1",
    [agent.id],
  );
  expect(rows).toEqual([]);
  expect(await sent(agent)).toBe("nothing secret");
});

test("a caller who does not know the secret cannot have it sent to another server", async () => {
  const agent = await create();
  const reference = await shown(agent);
  const hosts = { allowed_hosts: [target.host, elsewhere.host] };
  const moved = { ...operation, url: `${elsewhere.url}/collect` };
  expectError(
    await change(agent, [tool(reference, { ...hosts, operations: [moved] })]),
    400,
    "bad_request",
    /would send its secret to http:\/\/127/,
  );
  const added = { ...moved, name: "collect" };
  expectError(
    await change(agent, [tool(reference, { ...hosts, operations: [operation, added] })]),
    400,
    "bad_request",
    /would send its secret/,
  );
  expect(
    (await change(agent, [tool(given(secret), { ...hosts, operations: [operation, added] })]))
      .status,
  ).toBe(200);
  expect(await sent(agent)).toBe(`Bearer ${secret}`);
});

test("a reference to a secret of another agent is rejected", async () => {
  const owner = await create();
  const reference = await shown(owner);
  const other = await beckon.createAgent();
  expectError(
    await change(other, [tool(reference)]),
    400,
    "bad_request",
    /tools\.0\.headers\.Authorization refers to a secret that this agent does not have/,
  );
  expectError(
    await beckon.call("/agents", {
      body: { name: "x", model: "demo/echo", tools: [tool(reference)] },
    }),
    400,
    "bad_request",
    /refers to a secret that this agent does not have/,
  );
  const foreign = { name: "x", model: "demo/echo", tools: [tool(reference)] };
  expectError(
    await beckon.call("/agents", { body: foreign, credential: await insertStranger(beckon) }),
    400,
    "bad_request",
    /refers to a secret that this agent does not have/,
  );
});

test("a secret cannot be decrypted in another agent's row or with changed origins", async () => {
  const [one, two] = [await create(), await create(given("sk-of-the-other-agent-5555"))];
  const { engine } = beckon.db.database;
  const sealed = (agent: Agent) =>
    engine.query<{ sealed: string }>("select sealed from agent_secrets where agent_id = $1", [
      agent.id,
    ]);
  const [mine] = (await sealed(one)).rows;
  await engine.query("update agent_secrets set sealed = $1 where agent_id = $2", [
    mine?.sealed,
    two.id,
  ]);
  expect(await sent(two)).toBeUndefined();
  await engine.query(
    "update agent_secrets set origins = origins || '{https://evil.example}' where agent_id = $1",
    [one.id],
  );
  expect(await sent(one)).toBeUndefined();
});

test("a rejected change changes no secret", async () => {
  const agent = await create();
  const wrong = await change(agent, [
    tool(given("sk-second-secret-of-the-shop-9876")),
    { type: "http", name: "broken" },
  ]);
  expect(wrong.status).toBe(400);
  expect(JSON.stringify(wrong.body)).not.toContain("sk-second");
  expect(await sent(agent)).toBe(`Bearer ${secret}`);
});
