import { expect, test } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { seedWorkspace } from "../../test/tenant.ts";
import { replaceUnknownTimeZones, withKnownTimeZones } from "./replace-unknown-time-zones.ts";

const { database } = await testDatabase();
const { engine } = database;

async function addWorkspace(zone: string): Promise<string> {
  const id = await seedWorkspace(database);
  await engine.query("update workspaces set time_zone = $2 where id = $1", [id, zone]);
  return id;
}

const zoneOf = async (id: string): Promise<string | undefined> =>
  (await engine.query("select time_zone from workspaces where id = $1", [id])).rows[0]?.time_zone;

const replaced = "PostgreSQL does not know the time zone of workspaces; check the one they got";

test("workspaces whose time zone PostgreSQL does not know get UTC, and the log names them", async () => {
  const known = [await addWorkspace("UTC"), await addWorkspace("europe/zurich")];
  const unknown = [await addWorkspace("Asia/Nowhere"), await addWorkspace("Asia/Nowhere")];
  const captured = captureLog();
  await replaceUnknownTimeZones({ database, log: captured.log });
  expect(await Promise.all([...known, ...unknown].map(zoneOf))).toEqual([
    "UTC",
    "europe/zurich",
    "UTC",
    "UTC",
  ]);
  expect(captured.named(replaced)).toEqual([
    expect.objectContaining({
      level: "error",
      time_zone: "Asia/Nowhere",
      new_time_zone: "UTC",
      workspaces: 2,
      workspace_ids: unknown.toSorted(),
    }),
  ]);
  const { rows: changed } = await engine.query(
    "select id from workspaces where time_zone_changed_at is not null order by id",
  );
  expect(changed.map(({ id }) => id)).toEqual(unknown.toSorted());
  const { rows } = await engine.query(
    "select workspace_id, actor, action, target, data from audit",
  );
  const data = { before: { time_zone: "Asia/Nowhere" }, after: { time_zone: "UTC" } };
  expect(rows).toHaveLength(2);
  for (const id of unknown)
    expect(rows).toContainEqual({
      workspace_id: id,
      actor: "system",
      action: "workspace.update",
      target: id,
      data,
    });
});

test("a time zone that PostgreSQL accepts without having its name stays", async () => {
  const id = await addWorkspace("<+03>-3");
  await replaceUnknownTimeZones({ database, log: captureLog().log });
  expect(await zoneOf(id)).toBe("<+03>-3");
});

test("the replacement leaves the current period of a limit and what was spent in it", async () => {
  const id = await addWorkspace("Asia/Nowhere");
  await engine.query(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, spent, reserved,
        starts, ends)
      values ($1, $1, 'workspace', 'cost', 1000, 900, 50, now() - interval '1 hour',
        now() + interval '23 hours')`,
    [id],
  );
  const budget = async () =>
    (await engine.query("select * from budgets where workspace_id = $1", [id])).rows;
  const before = await budget();
  await replaceUnknownTimeZones({ database, log: captureLog().log });
  expect([await zoneOf(id), await budget()]).toEqual(["UTC", before]);
});

// Events are read in the order of commits: readers wait while the replacement is not committed.
test("a replacement in many workspaces has as many statements as one in a few", async () => {
  const replaceIn = async (count: number) => {
    for (let n = 0; n < count; n++) await addWorkspace("Asia/Nowhere");
    const services = { database, log: captureLog().log };
    return (await executedStatements(() => replaceUnknownTimeZones(services))).length;
  };
  expect(await replaceIn(20)).toBe(await replaceIn(2));
});

test("two processes that replace a time zone at the same time log it once", async () => {
  const id = await addWorkspace("Asia/Nowhere");
  const captured = captureLog();
  const read = () =>
    engine.query("select now() at time zone time_zone from workspaces where id = $1", [id]);
  const services = { database, log: captured.log };
  await Promise.all([withKnownTimeZones(services, read), withKnownTimeZones(services, read)]);
  expect(captured.named(replaced)).toHaveLength(1);
});
