import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../../../test/database.ts";
import { seedAgent } from "../../../../test/tenant.ts";
import type { Actor } from "../../../base/context.ts";
import { createSecretCipher } from "../../../base/secrets/index.ts";
import { listRuns } from "./list.ts";

const { database } = await testDatabase();
const cipher = createSecretCipher(randomBytes(32));
const agent = await seedAgent(database);
const { workspaceId } = agent;
const other = await seedAgent(database, { workspaceId });

const list = (actor: Actor, agentId: string) =>
  listRuns({ ctx: { database, cipher, actor, workspaceId }, input: { agentId, query: {} } });

test.each<Actor>([
  { kind: "key", id: "key_1", scopes: ["runs:read"], agentIds: [agent.agentId] },
  { kind: "token", agentId: agent.agentId },
])("the error for an agent that a $kind cannot access names the agent", async (actor) => {
  expect(await list(actor, agent.agentId)).toEqual({ data: [], next: null });
  for (const agentId of [other.agentId, "agt_none"])
    await expect(list(actor, agentId)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/^There is no agent /),
    });
});
