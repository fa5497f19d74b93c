import { randomBytes } from "node:crypto";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedTrigger } from "../../test/tenant.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import { importAgents } from "../bundles/index.ts";
import type { MappingServices } from "../mapping/index.ts";
import { createTrigger } from "./create.ts";
import { updateTrigger } from "./update.ts";

/**
 * Tests of how filters and templates are checked: before the transaction, and within a time limit.
 * There is no server, because its worker would open transactions, which the tests would count.
 */

const { database } = await testDatabase();
const cipher = createSecretCipher(randomBytes(32));
const agent = await seedAgent(database);
const { triggerId } = await seedTrigger(database, agent);
const { agentId } = agent;

/** Number of open transactions during each check. */
const transactions: number[] = [];
let onCheck = () => {};
beforeEach(() => {
  transactions.length = 0;
  onCheck = () => {};
});
const mapping: MappingServices["mapping"] = {
  async check() {
    onCheck();
    const { rows } = await database.engine.query<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'`,
    );
    transactions.push(rows[0]?.open ?? -1);
    return [];
  },
  evaluate: () => Promise.reject(new Error("nothing is evaluated here")),
  close() {},
};
const ctx = {
  database,
  cipher,
  actor: { kind: "system" } as const,
  workspaceId: agent.workspaceId,
  mapping,
  runs: { memory: {} as never },
  egress: { missingAddressException: () => undefined },
};
const bodyOf = (value: unknown) => ({ ok: true, value }) as const;
const receiving = { filter: "payload.a == 1" };
const importOf = (triggers: number) => {
  const named = Array.from({ length: triggers }, () => ({ name: "Imported", receiving }));
  const body = { beckon: 1, agents: [{ name: "Imported", model: "demo/echo", triggers: named }] };
  return importAgents({ ctx, input: { body: bodyOf(body) } });
};

test.each([
  [
    "created",
    () => createTrigger({ ctx, input: { agentId, body: bodyOf({ name: "Created", receiving }) } }),
  ],
  [
    "changed",
    () => updateTrigger({ ctx, input: { agentId, triggerId, body: bodyOf({ receiving }) } }),
  ],
  ["imported", () => importOf(1)],
])("the filter of a trigger that is %s is checked before the transaction", async (_, act) => {
  await act();
  expect(transactions).toEqual([0]);
});

test("an import whose checks take more than 10 seconds together is rejected", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  onCheck = () => void vi.advanceTimersByTime(6_000);
  await expect(importOf(3)).rejects.toMatchObject({
    code: "unavailable",
    message:
      "Checking the filters and templates of the triggers took more than 10 seconds. Import fewer agents at a time, or try again later.",
    retryAfter: 10,
  });
  expect(transactions).toHaveLength(2);
});
