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
  const deleteSome = inEachWorkspace(database.engine, async ({ id }) => {
    visited.push(id);
    return undefined;
  });
  expect(await deleteSome(1)).toEqual({ deleted: {}, hasMore: true });
  expect(visited.length).toBeLessThan(100);
  while ((await deleteSome(1)).hasMore);
  expect(visited).toEqual(rows.map(({ id }) => id));
});
