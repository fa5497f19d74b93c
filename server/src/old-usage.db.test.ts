import { randomBytes } from "node:crypto";
import type { UsageReport } from "@beckon/contract";
import { expect, test } from "vitest";
import { addUsage, type GivenEntry, sumUpTo } from "../test/add-usage.ts";
import { testDatabase } from "../test/database.ts";
import { type SeededAgent, seedAgent } from "../test/tenant.ts";
import type { Context } from "./base/context.ts";
import { createSecretCipher } from "./base/secrets/index.ts";
import { readConfig } from "./config.ts";
import { oldUsageEntries } from "./retention/index.ts";
import { getUsage } from "./usage/index.ts";

const { database } = await testDatabase();
const cipher = createSecretCipher(randomBytes(32));
const now = new Date();
const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3_600_000);
const dayOf = (time: Date) => time.toISOString().slice(0, 10);

/** Deletes all entries that are older than `usageDays`, in small batches. */
async function deleteOld(usageDays: number): Promise<void> {
  const deleteSome = oldUsageEntries(
    database.engine,
    { ...readConfig({}).retention, usageDays },
    now,
  );
  while ((await deleteSome?.(2))?.hasMore);
}

async function entriesLeft(workspaceId: string): Promise<number> {
  const { rows } = await database.engine.query<{ left: number }>(
    "select count(*)::int as left from usage_entries where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.left ?? 0;
}

async function usageOf(workspaceId: string, query: Record<string, string>): Promise<UsageReport> {
  const ctx: Context = { database, cipher, actor: { kind: "system" }, workspaceId };
  const usage = await getUsage({ ctx, input: { query } });
  if (usage.format !== "json") throw new Error("the report is a file");
  return usage.report;
}

/** The transaction that has written all entries, so that tests can choose what is summed up. */
const transaction = 1;
const add = (agent: SeededAgent, ...entries: readonly GivenEntry[]) =>
  addUsage(database, agent, ...entries.map((entry) => ({ ...entry, transaction })));
const sumUp = ({ workspaceId }: SeededAgent) => sumUpTo(database, workspaceId, transaction + 1);

test("old entries are deleted, and the sums by day stay", async () => {
  const agent = await seedAgent(database);
  const entries = [400, 100, 90.5, 90.4, 90.3, 63.5, 5].map((days) => ({
    time: daysAgo(days),
    input_tokens: 10,
  }));
  await add(agent, ...entries);
  await sumUp(agent);
  const year = { from: dayOf(daysAgo(500)), to: dayOf(now) };
  const before = await usageOf(agent.workspaceId, year);
  expect(before.totals).toMatchObject({ entries: 7, input_tokens: 70 });

  await deleteOld(0);
  expect(await entriesLeft(agent.workspaceId)).toBe(7);
  await deleteOld(90);
  expect(await entriesLeft(agent.workspaceId)).toBe(2);
  expect(await usageOf(agent.workspaceId, year)).toEqual({
    ...before,
    since: `${dayOf(daysAgo(400))}T00:00:00.000Z`,
  });
});

test("entries that are not in the sums by day yet are kept", async () => {
  const agent = await seedAgent(database);
  const old = Array.from({ length: 5 }, () => ({ time: daysAgo(200), input_tokens: 1 }));
  await add(agent, ...old);
  await deleteOld(62);
  expect(await entriesLeft(agent.workspaceId)).toBe(5);
  await sumUp(agent);
  await deleteOld(62);
  expect(await entriesLeft(agent.workspaceId)).toBe(0);
});

test("a report that needs deleted entries is rejected, and says what it can have", async () => {
  const agent = await seedAgent(database);
  await add(agent, ...[100, 80].map((days) => ({ time: daysAgo(days) })));
  await sumUp(agent);
  const hours = (from: number) =>
    usageOf(agent.workspaceId, {
      group_by: "hour",
      from: dayOf(daysAgo(from)),
      to: dayOf(daysAgo(75)),
    });
  expect((await hours(100)).totals.entries).toBe(2);
  await deleteOld(90);
  await expect(hours(100)).rejects.toMatchObject({
    code: "bad_request",
    message: `With group_by=hour, from must be after ${dayOf(daysAgo(100))}: older usage is only kept as sums by day (BECKON_RETENTION_USAGE_DAYS). Choose a later from, or group by day.`,
  });
  const times = (from: Date) =>
    usageOf(agent.workspaceId, { from: from.toISOString(), to: daysAgo(75).toISOString() });
  await expect(times(daysAgo(100))).rejects.toMatchObject({ code: "bad_request" });
  expect((await times(daysAgo(99))).totals.entries).toBe(1);
  expect((await hours(99)).totals.entries).toBe(1);
});

test.each([
  ["all were deleted before the change", 0],
  ["some were written after the change", 1],
])(
  "a report is rejected for the days that deleted entries had in an earlier time zone, if %s",
  async (_, later) => {
    const agent = await seedAgent(database);
    const day = dayOf(daysAgo(100));
    const moveTo = (zone: string, at: Date | string) =>
      database.engine.query(
        "update workspaces set time_zone = $2, time_zone_changed_at = $3 where id = $1",
        [agent.workspaceId, zone, at],
      );
    await moveTo("Pacific/Auckland", daysAgo(200));
    await add(agent, { day, time: `${day}T02:00:00Z` });
    // There, this time is on the day before.
    await moveTo("America/Los_Angeles", later === 0 ? now : `${day}T02:30:00Z`);
    if (later > 0) await add(agent, { time: `${day}T03:00:00Z` });
    await sumUp(agent);
    await deleteOld(90);
    expect(await entriesLeft(agent.workspaceId)).toBe(0);
    const usage = (group: string) =>
      usageOf(agent.workspaceId, { group_by: group, from: day, to: dayOf(daysAgo(80)) });
    expect((await usage("day")).totals.entries).toBe(1);
    await expect(usage("tag")).rejects.toMatchObject({ code: "bad_request" });
  },
);

test("PostgreSQL rejects the deletion of entries that limits and reports still need", async () => {
  const agent = await seedAgent(database);
  await add(agent, { time: daysAgo(61.9) });
  await expect(
    database.engine.query("delete from usage_entries where workspace_id = $1", [agent.workspaceId]),
  ).rejects.toMatchObject({
    code: "23001",
    message: "rows of usage_entries are kept for at least 62 days",
  });
});
