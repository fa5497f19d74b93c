import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { type SeededAgent, seedAgent, seedTrigger } from "../../test/tenant.ts";
import { type StreamCredential, stillValid } from "./still-valid-statement.ts";

const { database } = await testDatabase();

const heldToken = (agent: SeededAgent, more: Partial<StreamCredential> = {}): StreamCredential => ({
  kind: "token",
  id: agent.hash.toString("hex"),
  workspaceId: agent.workspaceId,
  scope: "runs:read",
  agentIds: [agent.agentId],
  ...more,
});

let users = 0;

/** A member who is signed in. */
async function heldSession(workspaceId: string, role: string): Promise<StreamCredential> {
  const id = `user_${++users}`;
  const { engine } = database;
  await engine.query("insert into users (id, name, email) values ($1, 'Test', $2)", [
    id,
    `${id}@example.com`,
  ]);
  await engine.query("insert into members (user_id, workspace_id, role) values ($1, $2, $3)", [
    id,
    workspaceId,
    role,
  ]);
  await engine.query(
    "insert into sessions (id, user_id, token, expires_at) values ($1, $1, $1, now() + interval '1 hour')",
    [id],
  );
  return { kind: "session", id, workspaceId, scope: "runs:read", agentIds: null };
}

const stands = async (held: StreamCredential) => (await stillValid(database, [held])).has(held);

test("of many, those that stand are told from the others", async () => {
  const agents = await Promise.all(Array.from({ length: 6 }, () => seedAgent(database)));
  const held = agents.map((agent) => heldToken(agent));
  const dead = held.filter((_, index) => index % 2 === 0);
  for (const { id } of dead)
    await database.engine.query("delete from tokens where hash = $1", [Buffer.from(id, "hex")]);
  expect(await stillValid(database, held)).toEqual(
    new Set(held.filter((each) => !dead.includes(each))),
  );
});

test("none is asked for: none stands", async () => {
  expect(await stillValid(database, [])).toEqual(new Set());
});

test("a token stands for its own agent and workspace only", async () => {
  const [agent, other] = [await seedAgent(database), await seedAgent(database)];
  expect(await stands(heldToken(agent))).toBe(true);
  expect(await stands(heldToken(agent, { agentIds: [other.agentId] }))).toBe(false);
  expect(await stands(heldToken(agent, { agentIds: null }))).toBe(false);
  expect(await stands(heldToken(agent, { workspaceId: other.workspaceId }))).toBe(false);
});

test("a trigger's token, and one that nobody has, do not stand", async () => {
  const agent = await seedAgent(database);
  const trigger = await seedTrigger(database, agent);
  expect(await stands(heldToken(agent, { id: trigger.hash.toString("hex") }))).toBe(false);
  expect(await stands(heldToken(agent, { id: randomBytes(32).toString("hex") }))).toBe(false);
});

test("a session stands as long as its member has a role with the scope", async () => {
  const { workspaceId } = await seedAgent(database);
  const held = await heldSession(workspaceId, "viewer");
  expect(await stands(held)).toBe(true);
  expect(await stands({ ...held, scope: "agents:invoke" })).toBe(false);
  expect(await stands({ ...held, workspaceId: (await seedAgent(database)).workspaceId })).toBe(
    false,
  );
  await database.engine.query("delete from members where user_id = $1", [held.id]);
  expect(await stands(held)).toBe(false);
});

test.each([
  "delete from sessions where id = $1",
  "update sessions set expires_at = now() where id = $1",
])("a session that was ended does not stand: %s", async (sql) => {
  const held = await heldSession((await seedAgent(database)).workspaceId, "owner");
  expect(await stands(held)).toBe(true);
  await database.engine.query(sql, [held.id]);
  expect(await stands(held)).toBe(false);
});
