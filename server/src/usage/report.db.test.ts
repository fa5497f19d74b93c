import { randomBytes } from "node:crypto";
import type { UsageReport } from "@beckon/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addUsage, sumUpTo } from "../../test/add-usage.ts";
import { testDatabase } from "../../test/database.ts";
import { statementTimeouts } from "../../test/executed-statements.ts";
import { seedAgent } from "../../test/tenant.ts";
import type { Context } from "../base/context.ts";
import { inWorkspace, isCancelled, limitStatements, limitTime } from "../base/database/index.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import { getUsage } from "./report.ts";
import { readReport } from "./report-store.ts";
import { rollUp } from "./roll-up.ts";

/** Tests of reports without a server: its worker would sum up entries in the background. */

const { database } = await testDatabase();
const cipher = createSecretCipher(randomBytes(32));

/** Returns the report of a workspace for an actor that can read the usage of all its agents. */
async function usageOf(
  workspaceId: string,
  query: Record<string, string>,
  tenant = database.tenant,
): Promise<UsageReport> {
  const ctx: Context = {
    database: { ...database, tenant },
    cipher,
    actor: { kind: "system" },
    workspaceId,
  };
  const usage = await getUsage({ ctx, input: { query } });
  if (usage.format !== "json") throw new Error("the report is a file");
  return usage.report;
}

const june = { from: "2026-06-01", to: "2026-06-30" };
const noon = (day: string) => ({ time: `${day}T12:00:00Z` });

describe("sums by day and the entries after them", () => {
  const someEntry = fc.record({
    day: fc.integer({ min: 1, max: 4 }),
    transaction: fc.integer({ min: -3, max: 12 }),
    agent: fc.integer({ min: 0, max: 1 }),
    model: fc.constantFrom("a", "b"),
    principal: fc.constantFrom("key:key_1", "trigger:trg_1"),
    kind: fc.constantFrom("model" as const, "voice" as const),
    input_tokens: fc.integer({ min: 0, max: 1_000_000_000_000 }),
    cost_micros: fc.option(fc.integer({ min: 0, max: 1_000 })),
    estimated: fc.boolean(),
  });
  type Some = typeof someEntry extends fc.Arbitrary<infer T> ? T : never;

  /** Computes the rows of the report in TypeScript. */
  function expected(entries: readonly (Some & { agentId: string })[], groups: readonly string[]) {
    const keyOf = (entry: (typeof entries)[number]): Record<string, string> => ({
      ...(groups.includes("day") ? { day: `2026-06-0${entry.day}` } : {}),
      ...(groups.includes("agent") ? { agent_id: entry.agentId } : {}),
      ...(groups.includes("model") ? { model: `demo/${entry.model}` } : {}),
      ...(groups.includes("caller") ? { caller: entry.principal } : {}),
      ...(groups.includes("metric")
        ? { metric: entry.kind === "model" ? "tokens" : "voice_seconds" }
        : {}),
    });
    const byKey = Map.groupBy(entries, (entry) => JSON.stringify(keyOf(entry)));
    return [...byKey].sort().map(([key, some]) => {
      const known = some.flatMap(({ cost_micros }) => cost_micros ?? []);
      const cost = known.reduce((sum, each) => sum + each, 0);
      return {
        ...(JSON.parse(key) as object),
        entries: some.length,
        input_tokens: some.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
        cost_micros: cost === 0 && known.length < some.length ? null : cost,
        unknown_cost_entries: some.length - known.length,
        estimated_entries: some.filter(({ estimated }) => estimated).length,
      };
    });
  }

  test("are together the truth, whatever was summed up", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someEntry, { minLength: 1, maxLength: 30 }),
        fc.array(fc.integer({ min: -4, max: 14 }), { maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (entries, rollUps, parts) => {
          const agent = await seedAgent(database);
          const { workspaceId } = agent;
          const agents = [agent, await seedAgent(database, { workspaceId })];
          const placed = entries.map((entry) => ({
            ...entry,
            agentId: agents[entry.agent]?.agentId ?? "",
          }));
          for (const [index, of] of agents.entries()) {
            const own = entries.filter((entry) => entry.agent === index);
            if (own.length === 0) continue;
            await addUsage(
              database,
              of,
              ...own.map(({ day, agent: _, ...rest }) => ({ ...noon(`2026-06-0${day}`), ...rest })),
            );
          }
          const check = async () => {
            for (const groups of [["day"], ["agent", "model"], ["day", "caller"], ["metric"]]) {
              const query = { ...june, group_by: groups.join() };
              const { rows, totals } = await usageOf(workspaceId, query);
              expect(rows).toMatchObject(expected(placed, groups));
              expect(totals).toMatchObject(expected(placed, [])[0] ?? {});
              // A range of times makes the report read single entries instead of the sums by day.
              const times = { from: "2026-06-01T00:00:00Z", to: "2026-07-01T00:00:00Z" };
              expect((await usageOf(workspaceId, { ...query, ...times })).rows).toEqual(rows);
            }
          };
          await check();
          for (const upTo of rollUps.sort((one, other) => one - other)) {
            await sumUpTo(database, workspaceId, upTo, parts);
            await check();
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  test("are read in one snapshot while others are summed up", async () => {
    const agent = await seedAgent(database);
    // Each transaction writes ten entries, so the number of entries in a snapshot is a multiple of
    // ten.
    const batch = Array.from({ length: 10 }, (_, index) => ({
      ...noon(`2026-06-1${index % 3}`),
      input_tokens: 1,
    }));
    const batches = 60;
    const working = (async () => {
      for (let count = 0; count < batches; count++) {
        await addUsage(database, agent, ...batch);
        await rollUp(database);
      }
    })();
    let last = 0;
    let reads = 0;
    for (; last < batches * batch.length; reads++) {
      const { rows, totals } = await usageOf(agent.workspaceId, june);
      expect(totals.entries % batch.length).toBe(0);
      expect(totals.entries).toBeGreaterThanOrEqual(last);
      expect(rows.reduce((sum, row) => sum + row.entries, 0)).toBe(totals.entries);
      expect(totals.input_tokens).toBe(totals.entries);
      last = totals.entries;
    }
    await working;
    expect(reads).toBeGreaterThan(5);
  });
});

test("a report without to has the days that are ahead since the workspace's time zone changed", async () => {
  const agent = await seedAgent(database);
  const { workspaceId } = agent;
  const move = (zone: string) =>
    database.engine.query("update workspaces set time_zone = $2 where id = $1", [
      workspaceId,
      zone,
    ]);
  await move("Pacific/Kiritimati");
  await addUsage(database, agent, { transaction: 7 });
  const { to: day } = await usageOf(workspaceId, {});
  await move("Etc/GMT+12");
  const check = async () => {
    for (const group_by of ["day", "day,tag"])
      expect(await usageOf(workspaceId, { group_by })).toMatchObject({
        to: day,
        totals: { entries: 1 },
        rows: [{ day }],
      });
  };
  await check();
  await sumUpTo(database, workspaceId, 8);
  await check();
});

test("a report that takes too long is cancelled", async () => {
  const { workspaceId } = await seedAgent(database);
  const blocker = await database.engine.connect();
  try {
    await blocker.query("begin");
    await blocker.query("lock table usage_days in access exclusive mode");
    const thrown: unknown = await inWorkspace(database.tenant, workspaceId, async (tx) => {
      await limitTime(tx, 20);
      return readReport(tx, workspaceId, {
        groups: ["day"],
        range: { kind: "days", ...june },
        agentIds: undefined,
        model: undefined,
        caller: undefined,
        tag: undefined,
        timeZone: "UTC",
        after: undefined,
        limit: 10,
      }).catch((error: unknown) => {
        expect(isCancelled(error)).toBe(true);
        throw error;
      });
    }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(Error);
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
});

test("a report that had less time says so", async () => {
  const { workspaceId } = await seedAgent(database);
  const blocker = await database.engine.connect();
  try {
    await blocker.query("begin");
    await blocker.query("lock table usage_days in access exclusive mode");
    const tenant = limitStatements(database.tenant, () => 770);
    await expect(usageOf(workspaceId, june, tenant)).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/longer than the 0\.1 seconds that its request had left/),
    });
  } finally {
    await blocker.query("rollback");
    blocker.release();
  }
});

test("the statements of a report share the time until the deadline of its request", async () => {
  const { workspaceId } = await seedAgent(database);
  const timeoutsMs = [4_500, 4_400, 2_750];
  const tenant = limitStatements(database.tenant, () => timeoutsMs.shift());
  const report = () => usageOf(workspaceId, { group_by: "day" }, tenant);
  expect(await statementTimeouts(report)).toEqual([4_500, 3_000, 2_000]);
});
