import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { addRun } from "../../../../test/add-run.ts";
import { testDatabase } from "../../../../test/database.ts";
import { seedAgent } from "../../../../test/tenant.ts";
import type { Context } from "../../../base/context.ts";
import { inWorkspace, limitStatements } from "../../../base/database/index.ts";
import { createSecretCipher } from "../../../base/secrets/index.ts";
import { getRunStats } from "./stats.ts";
import { readStats, type StatsQuery } from "./stats-store.ts";

const { database } = await testDatabase();
const agent = await seedAgent(database);
const { workspaceId } = agent;
const other = await seedAgent(database, { workspaceId });
for (let minute = 0; minute < 4; minute++) {
  const createdAt = new Date(Date.UTC(2026, 5, 10, 12, minute));
  await addRun(database, minute % 2 === 0 ? agent : other, { createdAt });
}

const read = (given: Partial<StatsQuery> = {}, id = workspaceId) =>
  inWorkspace(database.tenant, id, (tx) =>
    readStats(tx, id, {
      agentIds: undefined,
      filter: {},
      bucket: undefined,
      byAgent: false,
      maxRuns: 4,
      maxGroups: 4,
      ...given,
    }),
  );

test("as many runs as allowed are counted", async () => {
  expect(await read()).toMatchObject({ groups: [{ runs: { succeeded: 4 } }] });
});

test.each<Partial<StatsQuery>>([
  {},
  { agentIds: [agent.agentId, other.agentId] },
  { bucket: "minute", filter: { trigger_id: "trg_none" } },
])("more runs than allowed have no statistics, whether or not they match: %j", async (given) => {
  expect(await read({ ...given, maxRuns: 3 })).toEqual({ tooMany: "runs" });
});

test("runs of other agents and times are not among those allowed", async () => {
  expect(await read({ maxRuns: 2, filter: { agent_id: agent.agentId } })).toMatchObject({
    groups: [{ runs: { succeeded: 2 } }],
  });
  expect(
    await read({ maxRuns: 0, filter: { created_after: "2026-06-11T00:00:00Z" } }),
  ).toMatchObject({ groups: [{ runs: { succeeded: 0 } }] });
});

test("more groups than allowed are not returned", async () => {
  expect(await read({ bucket: "minute" })).toMatchObject({ groups: { length: 4 } });
  expect(await read({ bucket: "minute", maxGroups: 3 })).toEqual({ tooMany: "groups" });
});

test("a day begins at the first of two midnights, for all of its runs", async () => {
  const inHavana = await seedAgent(database);
  await database.engine.query("update workspaces set time_zone = 'America/Havana' where id = $1", [
    inHavana.workspaceId,
  ]);
  for (const time of ["04:30", "06:30"])
    await addRun(database, inHavana, { createdAt: new Date(`2026-11-01T${time}Z`) });
  const stats = await read({ bucket: "day" }, inHavana.workspaceId);
  expect(stats).toMatchObject({
    groups: [{ bucket: "2026-11-01T04:00:00.000Z", runs: { succeeded: 2 } }],
  });
});

test("statistics that take too long are cancelled", async () => {
  // A lock makes the statement wait.
  const blocker = await database.engine.connect();
  try {
    await blocker.query("begin");
    await blocker.query("lock table runs in access exclusive mode");
    const ctx: Context = {
      database: { ...database, tenant: limitStatements(database.tenant, () => 770) },
      cipher: createSecretCipher(randomBytes(32)),
      actor: { kind: "system" },
      workspaceId,
    };
    await expect(getRunStats({ ctx, input: { query: {} } })).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/longer than the 0\.1 seconds that its request had left/),
    });
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
});
