import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { type SeededAgent, seedAgent, seedTrigger, startRow } from "../../test/tenant.ts";
import { startRuns } from "../../test/write-runs.ts";
import { newId } from "../base/ids.ts";
import { findKeyBySecret } from "../keys/store.ts";
import type { StartRow } from "../runs/starting/start-row.ts";
import { findAgentByToken } from "../tokens/store.ts";
import { type StreamCredential, stillValid } from "./still-valid-statement.ts";

const { database } = await testDatabase();
const { engine } = database;

async function seedKey({ workspaceId }: SeededAgent): Promise<Buffer> {
  const [id, hash] = [newId("key"), randomBytes(32)];
  await engine.query(
    "insert into keys (id, workspace_id, name, scopes, created_by) values ($1, $2, 'Test', '{agents:invoke}', 'system')",
    [id, workspaceId],
  );
  await engine.query("insert into key_secrets (hash, key_id, workspace_id) values ($1, $2, $3)", [
    hash,
    id,
    workspaceId,
  ]);
  return hash;
}

async function startWith(
  agent: SeededAgent,
  hash: Buffer,
  more: Partial<StartRow> = {},
): Promise<string | undefined> {
  const [answer] = await startRuns(database, [
    startRow(agent, { caller: { kind: "credential", hash }, ...more }),
  ]);
  return answer?.kind;
}

async function keepsStream(
  { agentId, workspaceId }: SeededAgent,
  kind: "token" | "key",
  hash: Buffer,
): Promise<boolean> {
  const credential: StreamCredential = {
    kind,
    id: hash.toString("hex"),
    workspaceId,
    scope: "agents:invoke",
    agentIds: [agentId],
  };
  return (await stillValid(database, [credential])).has(credential);
}

describe("no statement accepts an agent token", () => {
  test.each([
    ["that has expired", "update tokens set expires_at = now() where hash = $1"],
    [
      "of a deleted agent",
      "update agents set deleted_at = now() where id = (select agent_id from tokens where hash = $1)",
    ],
  ])("%s", async (_what, end) => {
    const agent = await seedAgent(database);
    const accepted = async () => [
      await startWith(agent, agent.hash),
      (await findAgentByToken(database, agent.hash))?.agentId,
      await keepsStream(agent, "token", agent.hash),
    ];
    expect(await accepted()).toEqual(["started", agent.agentId, true]);
    await engine.query(end, [agent.hash]);
    expect(await accepted()).toEqual(["unauthorized", undefined, false]);
  });
});

test.each([
  ["that has expired", "update tokens set expires_at = now() where hash = $1"],
  [
    "of a deleted trigger",
    "update triggers set deleted_at = now() where id = (select trigger_id from tokens where hash = $1)",
  ],
  [
    "of a deleted agent",
    "update agents set deleted_at = now() where id = (select agent_id from tokens where hash = $1)",
  ],
])("a trigger's token %s starts nothing", async (_what, end) => {
  const agent = await seedAgent(database);
  const { hash } = await seedTrigger(database, agent);
  const fire = { source: "trigger", agentId: null } as const;
  expect(await startWith(agent, hash, fire)).toBe("started");
  await engine.query(end, [hash]);
  expect(await startWith(agent, hash, fire)).toBe("unauthorized");
});

describe("no statement accepts a key", () => {
  test.each([
    ["whose secret has expired", "update key_secrets set expires_at = now() where hash = $1"],
    [
      "that has expired",
      "update keys set expires_at = now() where id = (select key_id from key_secrets where hash = $1)",
    ],
  ])("%s", async (_what, end) => {
    const agent = await seedAgent(database);
    const hash = await seedKey(agent);
    const accepted = async () => [
      await startWith(agent, hash),
      (await findKeyBySecret(database, hash))?.workspaceId,
      await keepsStream(agent, "key", hash),
    ];
    expect(await accepted()).toEqual(["started", agent.workspaceId, true]);
    await engine.query(end, [hash]);
    expect(await accepted()).toEqual(["unauthorized", undefined, false]);
  });
});
