import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { inEachWorkspace } from "./in-each-workspace.ts";

const { database } = await testDatabase();

test("a pass through many workspaces without old rows can be stopped between two of them", async () => {
  await database.engine.query(
    "insert into workspaces (id, name) select 'wsp_' || n, 'Test' from generate_series(1, 600) n",
  );
  const { rows } = await database.engine.query<{ id: string }>(
    "select id from workspaces order by id",
  );
  const visited: string[] = [];
  const deleteSome = inEachWorkspace(database.engine, ({ id }) => {
    visited.push(id);
    return undefined;
  });
  expect(await deleteSome(1)).toEqual({ deleted: {}, hasMore: true });
  expect(visited.length).toBeLessThan(100);
  while ((await deleteSome(1)).hasMore);
  expect(visited).toEqual(rows.map(({ id }) => id));
});

test("a call that failed can be repeated, and a call says that it has finished a workspace", async () => {
  const deleteSome = inEachWorkspace(database.engine, () => async () => ({
    deleted: { runs: 1 },
    hasMore: false,
  }));
  await database.engine.query("alter table workspaces rename to renamed");
  await expect(deleteSome(1)).rejects.toThrow();
  await database.engine.query("alter table renamed rename to workspaces");
  expect(await deleteSome(1)).toEqual({ deleted: { runs: 1 }, hasMore: true, endsWorkspace: true });
});
