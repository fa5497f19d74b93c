import { expect, test, vi } from "vitest";
import { addUsage } from "../../test/add-usage.ts";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { rollUpAll as rollUpEverything, wrongWithLedger } from "../../test/ledger.ts";
import { type SeededAgent, seedAgent } from "../../test/tenant.ts";
import { zoneAtNoon } from "../../test/zone-at-noon.ts";
import { createLog } from "../base/log.ts";
import { withKnownTimeZones } from "./replace-unknown-time-zones.ts";
import { rollUp } from "./roll-up.ts";
import { renumberEntries } from "./rollup-store.ts";

const { database } = await testDatabase();
const { engine } = database;

const wrong = () => wrongWithLedger(engine);

let written = 0;
/** Columns of an entry that a test chooses. */
interface Given {
  readonly day?: string;
  readonly model?: string;
  /** Number of different models among the entries. Default: 1. */
  readonly models?: number;
  readonly principal?: string;
  readonly trigger?: string | null;
  readonly cost?: number | null;
  readonly count?: number;
}

const insert = `insert into usage_entries (run_id, seq, number, workspace_id, day, agent_id, source,
    principal, trigger_id, step, attempt, outcome, kind, provider, model, input_tokens,
    output_tokens, reasoning_tokens, cost_micros, standard_cost_micros, estimated)
  select $1, 2, n, $2, coalesce($3::date, (select (now() at time zone time_zone)::date from workspaces
    where id = $2)), $4, 'invoke', $5, $6, 1, 1, 'answered',
    'model', 'vendor', case $10::int when 1 then $7 else $7 || n % $10::int end, n, 1, 1, $8, $8,
    n % 2 = 0
  from generate_series(1, $9::int) n`;
const valuesOf = (agent: SeededAgent, given: Given) => [
  `run_${++written}`,
  agent.workspaceId,
  given.day ?? null,
  agent.agentId,
  given.principal ?? "key:key_1",
  given.trigger ?? null,
  given.model ?? "one",
  given.cost === undefined ? 5 : given.cost,
  given.count ?? 1,
  given.models ?? 1,
];
const write = (agent: SeededAgent, given: Given = {}) =>
  engine.query(insert, valuesOf(agent, given));

/**
 * Returns `days`, the number of rows in `usage_days`; `entries`, the number of entries that are
 * summed up; and `tail`, the number of entries that are not.
 */
async function stateOf({ workspaceId }: SeededAgent) {
  const { rows } = await engine.query<{ days: number; tail: number; entries: number }>(
    `select (select count(*)::int from usage_days where workspace_id = $1) as days,
      (select coalesce(sum(entries), 0)::int from usage_days where workspace_id = $1) as entries,
      (select count(*)::int from usage_entries e left join usage_rollups u
        on u.workspace_id = e.workspace_id
        where e.workspace_id = $1 and (u.up_to is null or e.transaction >= u.up_to)) as tail`,
    [workspaceId],
  );
  return rows[0] ?? { days: -1, tail: -1, entries: -1 };
}

const rollUpAll = async (agent: SeededAgent) => {
  await rollUpEverything(database);
  return stateOf(agent);
};

test("sums up the entries of each day, model, caller and trigger", async () => {
  const agent = await seedAgent(database);
  await write(agent, { count: 3 });
  await write(agent, { day: "2026-01-31", count: 2 });
  await write(agent, { model: "two", cost: null, count: 2 });
  await write(agent, { principal: "trigger:trg_1", trigger: "trg_1" });
  expect(await rollUpAll(agent)).toEqual({ days: 4, tail: 0, entries: 8 });
  const { rows } = await engine.query(
    `select entries::int, input_tokens::int, output_tokens::int, reasoning_tokens::int,
      cost_micros::int, unknown_cost_entries::int, unknown_standard_cost_entries::int,
      estimated_entries::int
      from usage_days where workspace_id = $1 and model = 'two'`,
    [agent.workspaceId],
  );
  expect(rows).toEqual([
    {
      entries: 2,
      input_tokens: 3,
      output_tokens: 2,
      reasoning_tokens: 2,
      cost_micros: 0,
      unknown_cost_entries: 2,
      unknown_standard_cost_entries: 2,
      estimated_entries: 1,
    },
  ]);
  expect(await wrong()).toEqual([]);
});

const setZone = ({ workspaceId }: SeededAgent, zone: string) =>
  engine.query("update workspaces set time_zone = $2 where id = $1", [workspaceId, zone]);

/**
 * Returns two time zones. The local time in the second one is exactly a day ahead of the local time
 * in the first one. Midnight is at least an hour away in both, so that no day ends during a test.
 */
function zonesADayApart(): readonly [earlier: string, later: string] {
  // Midnight is at 12:00 UTC in both zones of the first pair, and at 10:00 UTC in those of the
  // second pair. Between 9:00 and 11:00 UTC, the second pair would be too close to midnight.
  return [9, 10].includes(new Date().getUTCHours())
    ? ["Etc/GMT+12", "Etc/GMT-12"]
    : ["Etc/GMT+10", "Etc/GMT-14"];
}

test("appends rows during a day and merges them when the day is over", async () => {
  const agent = await seedAgent(database);
  const [earlier, later] = zonesADayApart();
  await setZone(agent, earlier);
  for (const _ of [1, 2, 3]) {
    await write(agent);
    await rollUpAll(agent);
  }
  expect(await stateOf(agent)).toMatchObject({ days: 3, entries: 3 });
  const { rows } = await engine.query<{ day: string }>(
    "select day::text from usage_days where workspace_id = $1",
    [agent.workspaceId],
  );
  // In this time zone the day of the entries is over.
  await setZone(agent, later);
  await rollUp(database);
  expect(await stateOf(agent)).toMatchObject({ days: 1, entries: 3 });
  // A late entry of a day that is over is merged into the sum of its day by the next roll-up.
  await write(agent, { day: rows[0]?.day ?? "" });
  expect(await rollUpAll(agent)).toMatchObject({ days: 1, entries: 4 });
  // In this time zone the day of the entries is the current day again.
  await setZone(agent, earlier);
  await write(agent);
  expect(await rollUpAll(agent)).toMatchObject({ days: 2, entries: 5 });
  expect(await wrong()).toEqual([]);
});

test("merges the rows of a key of the current day once there are more than 100", async () => {
  const agent = await seedAgent(database);
  await setZone(agent, zoneAtNoon());
  await write(agent, { count: 100 });
  // Inserts the rows that 100 roll-ups would have written.
  await engine.query(
    `insert into usage_days (workspace_id, day, agent_id, provider, model, principal, kind, entries,
        input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
        voice_ms, browser_ms, cost_micros, unknown_cost_entries, standard_cost_micros,
        unknown_standard_cost_entries, estimated_entries)
      select workspace_id, day, agent_id, provider, model, principal, kind, 1, input_tokens,
        output_tokens, 0, 0, reasoning_tokens, 0, 0, cost_micros, 0, cost_micros, 0, estimated::int
      from usage_entries where workspace_id = $1`,
    [agent.workspaceId],
  );
  await engine.query(
    `insert into usage_rollups select workspace_id, max(transaction) + 1, max(day) from usage_entries
      where workspace_id = $1 group by workspace_id`,
    [agent.workspaceId],
  );
  await write(agent, { model: "two" });
  expect(await rollUpAll(agent)).toMatchObject({ days: 101, entries: 101 });
  await write(agent);
  expect(await rollUpAll(agent)).toMatchObject({ days: 2, entries: 102 });
  expect(await wrong()).toEqual([]);
});

test("leaves out entries that a transaction with a lower number may still precede", async () => {
  const agent = await seedAgent(database);
  const slow = await engine.connect();
  await slow.query("begin");
  await slow.query(insert, valuesOf(agent, { cost: 1 }));
  await write(agent, { cost: 2 });
  await rollUp(database);
  expect(await stateOf(agent)).toMatchObject({ days: 0, tail: 1 });
  await slow.query("commit");
  slow.release();
  expect(await rollUpAll(agent)).toMatchObject({ entries: 2 });
  expect(await wrong()).toEqual([]);
});

test("sums up every entry once, while writers and other processes are at work", async () => {
  const agents = await Promise.all(Array.from({ length: 3 }, () => seedAgent(database)));
  let isWriting = true;
  const writers = agents.flatMap((agent) =>
    [1, 2, 3].map(async (writer) => {
      for (let n = 0; n < 40; n += 1)
        await write(agent, {
          model: `model ${n % 2}`,
          principal: `key:${writer}`,
          count: 1 + (n % 3),
        });
    }),
  );
  const seen: string[][] = [];
  const processes = [1, 2, 3].map(async () => {
    while (isWriting) {
      await rollUp(database);
      // At any time, a reader finds each entry either in the sums or among those that are not
      // summed up.
      seen.push(await wrong());
    }
  });
  await Promise.all(writers);
  isWriting = false;
  await Promise.all(processes);
  expect(seen.flat()).toEqual([]);
  for (const agent of agents)
    expect(await rollUpAll(agent)).toMatchObject({ tail: 0, entries: 3 * 79 });
  expect(await wrong()).toEqual([]);
});

test("a process that is killed in the middle leaves nothing half done", async () => {
  const agent = await seedAgent(database);
  await write(agent, { count: 5 });
  const killed = await engine.connect();
  killed.on("error", () => {});
  await killed.query("begin");
  await killed.query("insert into usage_rollups values ($1, 0, current_date)", [agent.workspaceId]);
  await killed.query("select from usage_rollups where workspace_id = $1 for update", [
    agent.workspaceId,
  ]);
  // Closes the connection in the middle of its transaction, as the end of a process does.
  killed.release(true);
  expect(await rollUpAll(agent)).toEqual({ days: 1, tail: 0, entries: 5 });
  expect(await wrong()).toEqual([]);
});

test("another process that holds the lock of a workspace does not delay the others", async () => {
  const [busy, free] = [await seedAgent(database), await seedAgent(database)];
  for (const agent of [busy, free]) {
    await write(agent);
    await rollUpAll(agent);
  }
  const other = await engine.connect();
  await other.query("begin");
  await other.query("select from usage_rollups where workspace_id = $1 for update", [
    busy.workspaceId,
  ]);
  await write(busy);
  await write(free);
  await rollUp(database);
  expect(await stateOf(busy)).toMatchObject({ tail: 1 });
  await other.query("commit");
  other.release();
  await rollUpAll(busy);
  await rollUpAll(free);
  expect(await wrong()).toEqual([]);
});

test("a time zone that PostgreSQL does not know is replaced, and all workspaces are summed up", async () => {
  const zoneless = await seedAgent(database);
  const other = await seedAgent(database);
  await rollUpAll(zoneless);
  await setZone(zoneless, "Asia/Nowhere");
  for (const each of [zoneless, other]) await write(each, { day: "2026-02-01" });
  const passes = vi.fn(() => rollUp(database));
  await withKnownTimeZones({ database, log: createLog("silent") }, passes);
  expect(passes).toHaveBeenCalledTimes(2);
  // One pass leaves entries out as long as an older transaction is open, as of autovacuum.
  await rollUpAll(zoneless);
  expect([(await stateOf(other)).tail, (await stateOf(zoneless)).tail]).toEqual([0, 0]);
});

async function renumber(log = createLog("silent")): Promise<void> {
  const client = await engine.connect();
  await renumberEntries(client, log);
  client.release();
}

test("after a restore to a cluster that counts anew, new entries are summed up, and none twice", async () => {
  const agent = await seedAgent(database);
  await write(agent, { count: 3 });
  await rollUpAll(agent);
  await write(agent, { count: 2 });
  const { log, lines } = captureLog();
  const before = await stateOf(agent);
  await renumber(log);
  expect(await stateOf(agent)).toEqual(before);
  expect(lines).toEqual([]);
  // Simulates a database that was copied from a cluster with higher transaction ids.
  await engine.query("update usage_entries set transaction = transaction + 1000000");
  await engine.query("update usage_rollups set up_to = up_to + 1000000");
  for (const _ of [1, 2]) await renumber(log);
  expect(lines).toEqual([expect.objectContaining({ tables: ["usage_entries"] })]);
  const { rows } = await engine.query<{ highest: string }>(
    "select max(transaction) as highest from usage_entries",
  );
  expect(Number(rows[0]?.highest)).toBe(-1);
  await write(agent, { count: 4 });
  expect(await stateOf(agent)).toEqual({ ...before, tail: 6 });
  expect(await rollUpAll(agent)).toMatchObject({ entries: 9 });
  expect(await wrong()).toEqual([]);
});

test("after a move to a cluster that counts anew, new entries are summed up, also if all old ones were deleted", async () => {
  const agent = await seedAgent(database);
  await addUsage(database, agent, { time: "2020-01-31" });
  await rollUpAll(agent);
  await engine.query("delete from usage_entries where workspace_id = $1", [agent.workspaceId]);
  await engine.query("update usage_rollups set up_to = up_to + 1000000 where workspace_id = $1", [
    agent.workspaceId,
  ]);
  await renumber();
  await write(agent, { count: 4 });
  expect(await stateOf(agent)).toMatchObject({ tail: 4, entries: 1 });
  expect(await rollUpAll(agent)).toMatchObject({ tail: 0, entries: 5 });
});

// This is the last test, because it writes many entries, and `wrong`, which the other tests call,
// reads all entries.
test("merges the late entries of a day that is over, however many keys they have", async () => {
  const agent = await seedAgent(database);
  const late = { day: "2026-01-31", models: 1_001, count: 1_001 };
  await write(agent);
  for (const entries of [1_002, 2_003]) {
    await write(agent, late);
    expect(await rollUpAll(agent)).toEqual({ days: 1_002, tail: 0, entries });
  }
});
