import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { type SeededAgent, seedAgent, seedTrigger } from "../../test/tenant.ts";
import { type StreamCredential, stillValid } from "./still-valid-statement.ts";

const { database } = await testDatabase();

const tokenOf = (agent: SeededAgent, more: Partial<StreamCredential> = {}): StreamCredential => ({
  kind: "token",
  id: agent.hash.toString("hex"),
  workspaceId: agent.workspaceId,
  scope: "runs:read",
  agentIds: [agent.agentId],
  ...more,
});

let users = 0;

/** Creates a member and returns the credential of its session. */
async function createSession(workspaceId: string, role: string): Promise<StreamCredential> {
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

const isValid = async (credential: StreamCredential) =>
  (await stillValid(database, [credential])).has(credential);

test("only the valid credentials of a list are returned", async () => {
  const agents = await Promise.all(Array.from({ length: 6 }, () => seedAgent(database)));
  const credentials = agents.map((agent) => tokenOf(agent));
  const revoked = credentials.filter((_, index) => index % 2 === 0);
  for (const { id } of revoked)
    await database.engine.query("delete from tokens where hash = $1", [Buffer.from(id, "hex")]);
  expect(await stillValid(database, credentials)).toEqual(
    new Set(credentials.filter((each) => !revoked.includes(each))),
  );
});

test("an empty list has no valid credentials", async () => {
  expect(await stillValid(database, [])).toEqual(new Set());
});

test("a token is valid for its own agent and workspace only", async () => {
  const [agent, other] = [await seedAgent(database), await seedAgent(database)];
  expect(await isValid(tokenOf(agent))).toBe(true);
  expect(await isValid(tokenOf(agent, { agentIds: [other.agentId] }))).toBe(false);
  expect(await isValid(tokenOf(agent, { agentIds: null }))).toBe(false);
  expect(await isValid(tokenOf(agent, { workspaceId: other.workspaceId }))).toBe(false);
});

test("a trigger's token and an unknown token are not valid", async () => {
  const agent = await seedAgent(database);
  const trigger = await seedTrigger(database, agent);
  expect(await isValid(tokenOf(agent, { id: trigger.hash.toString("hex") }))).toBe(false);
  expect(await isValid(tokenOf(agent, { id: randomBytes(32).toString("hex") }))).toBe(false);
});

test("a session is valid as long as its member has a role with the scope", async () => {
  const { workspaceId } = await seedAgent(database);
  const session = await createSession(workspaceId, "viewer");
  expect(await isValid(session)).toBe(true);
  expect(await isValid({ ...session, scope: "agents:invoke" })).toBe(false);
  expect(await isValid({ ...session, workspaceId: (await seedAgent(database)).workspaceId })).toBe(
    false,
  );
  await database.engine.query("delete from members where user_id = $1", [session.id]);
  expect(await isValid(session)).toBe(false);
});

test.each([
  "delete from sessions where id = $1",
  "update sessions set expires_at = now() where id = $1",
])("a session that was deleted or has expired is not valid: %s", async (sql) => {
  const session = await createSession((await seedAgent(database)).workspaceId, "owner");
  expect(await isValid(session)).toBe(true);
  await database.engine.query(sql, [session.id]);
  expect(await isValid(session)).toBe(false);
});
