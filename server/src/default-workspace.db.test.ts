import { expect, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import type { Beckon } from "./main.ts";

const beckon = await startTestBeckon();
const [{ id: agentId }] = (await beckon.call("/agents")).body.data;
const [{ id: triggerId }] = (await beckon.call(`/agents/${agentId}/triggers`)).body.data;
const path = { agent: `/agents/${agentId}`, trigger: `/agents/${agentId}/triggers/${triggerId}` };

/** Returns the demo agent and the setup token that another startup reports. */
async function demoOfNextStart(
  settings: Record<string, string> = {},
): Promise<Pick<Beckon, "demo" | "setupToken">> {
  const another = await beckon.another({ setup: true, settings });
  await another.stop();
  return another;
}

async function current(): Promise<{ token: string; url: string }> {
  const { token } = (await beckon.call(`${path.agent}/token`)).body.data;
  return { token, url: (await beckon.call(`${path.trigger}/token`)).body.data.url };
}

/**
 * Returns the targets of the audit entries about secrets that the server itself revealed, newest
 * first.
 */
async function systemReveals(): Promise<string[]> {
  const { data } = (await beckon.call("/audit?limit=200")).body;
  return data
    .filter(
      ({ action, actor }: { action: string; actor: string }) =>
        action.endsWith("reveal") && actor === "system",
    )
    .map(({ target }: { target: string }) => target);
}

test("a later start reveals the demo agent's current secrets, and the reveals are recorded", async () => {
  const before = (await systemReveals()).length;
  const { demo } = await demoOfNextStart({ PUBLIC_URL: "https://agents.example.com" });
  const { token, url } = await current();
  expect(demo).toEqual({
    agent_id: agentId,
    agent_token: token,
    trigger_url: url.replace(beckon.url, "https://agents.example.com"),
    is_offered: true,
  });
  expect((await systemReveals()).slice(0, -before || undefined)).toEqual([triggerId, agentId]);
});

test("a start that nobody reads reveals nothing", async () => {
  const before = await systemReveals();
  const another = await beckon.another();
  await another.stop();
  expect([another.demo, await systemReveals()]).toEqual([null, before]);
});

test("after a rotation the next start has the new secrets", async () => {
  const { token } = (
    await beckon.call(`${path.agent}/token/rotate`, { body: { grace_seconds: 60 } })
  ).body.data;
  await beckon.call(`${path.trigger}/rotate`, { body: {} });
  const { demo } = await demoOfNextStart();
  expect(demo?.agent_token).toBe(token);
  expect(demo?.trigger_url?.split("/").at(-1)).toBe((await current()).url.split("/").at(-1));
});

test("an agent that is changed to another model or paused is not offered, and keeps its secrets", async () => {
  await beckon.call(path.agent, { method: "PATCH", body: { name: "Mine" } });
  const { demo } = await demoOfNextStart();
  expect(demo).toMatchObject({ agent_id: agentId, is_offered: true });
  const notOffered = { ...demo, trigger_url: expect.stringMatching(/bkt_/), is_offered: false };
  await beckon.createProvider("https://models.example.com/v1", "paid");
  await beckon.call(path.agent, { method: "PATCH", body: { model: "paid/large" } });
  expect((await demoOfNextStart()).demo).toEqual(notOffered);
  await beckon.call(path.agent, { method: "PATCH", body: { model: "demo/echo" } });
  await beckon.call(`${path.agent}/pause`, { method: "POST" });
  expect((await demoOfNextStart()).demo).toEqual(notOffered);
  await beckon.call(`${path.agent}/resume`, { method: "POST" });
  expect((await demoOfNextStart()).demo?.is_offered).toBe(true);
});

test("another agent on the demo model is not taken for the demo agent", async () => {
  const other = await beckon.createAgent();
  expect((await demoOfNextStart()).demo?.agent_id).toBe(agentId);
  await beckon.call(`/agents/${other.id}`, { method: "DELETE" });
});

test("a revoked token and a disabled or deleted trigger have no secret", async () => {
  await beckon.call(path.trigger, { method: "PATCH", body: { enabled: false } });
  expect((await demoOfNextStart()).demo).toMatchObject({
    agent_token: expect.stringMatching(/^bka_/),
    trigger_url: null,
  });
  await beckon.call(path.trigger, { method: "PATCH", body: { enabled: true } });
  await beckon.call(`${path.agent}/token`, { method: "DELETE" });
  expect((await demoOfNextStart()).demo).toMatchObject({
    agent_token: null,
    trigger_url: expect.stringContaining("/bkt_"),
  });
  await beckon.call(path.trigger, { method: "DELETE" });
  expect((await demoOfNextStart()).demo).toBeNull();
  await beckon.call(`${path.agent}/token/rotate`, { body: {} });
  expect((await demoOfNextStart()).demo?.agent_id).toBe(agentId);
  await beckon.call(path.agent, { method: "DELETE" });
  expect((await demoOfNextStart()).demo).toBeNull();
});

test("only a start that changes the bootstrap key writes it, and records that", async () => {
  const keys = async (credential = beckon.key) =>
    (await beckon.call("/keys", { credential })).body.data.filter(
      ({ bootstrap }: { bootstrap: boolean }) => bootstrap,
    );
  const recorded = async (credential = beckon.key) =>
    (await beckon.call("/audit?limit=200", { credential })).body.data
      .filter(({ action }: { action: string }) => action.startsWith("key."))
      .map(({ action, actor, target }: Record<string, string>) => [action, actor, target]);
  const [first] = await keys();
  const { body } = await beckon.call("/keys", { body: { name: "Own", preset: "everything" } });
  const { key, id } = body.data;
  const before = [["key.create", `key:${first.id}`, id]];
  const startWith = async (bootstrap: string) =>
    (await beckon.another({ settings: { BECKON_BOOTSTRAP_KEY: bootstrap } })).stop();

  await startWith(beckon.key);
  expect([await keys(), await recorded()]).toEqual([
    [expect.objectContaining({ id: first.id, updated_at: first.updated_at })],
    before,
  ]);
  await startWith("another bootstrap key".padEnd(32, "-").replaceAll(" ", "-"));
  before.unshift(["key.rotate", "system", first.id]);
  expect([(await beckon.call("/keys")).status, await recorded(key)]).toEqual([401, before]);
  await startWith("");
  before.unshift(["key.delete", "system", first.id]);
  expect([await keys(key), await recorded(key)]).toEqual([[], before]);
  await startWith(beckon.key);
  const [again] = await keys();
  expect(await recorded()).toEqual([["key.create", "system", again.id], ...before]);
});

test("BECKON_SETUP_LINK=0 issues no token for the first owner, and revokes all earlier ones", async () => {
  const tokens = [(await demoOfNextStart()).setupToken, (await demoOfNextStart()).setupToken];
  for (const token of tokens) expect(token).toMatch(/^bks_/);
  expect((await demoOfNextStart({ BECKON_SETUP_LINK: "0" })).setupToken).toBeNull();
  const person = { name: "Ada", email: "ada@example.com", password: "correct horse battery" };
  for (const token of tokens) {
    const answer = await beckon.call("/setup", { credential: null, body: { token, ...person } });
    expect(answer.status).toBe(401);
  }
});
