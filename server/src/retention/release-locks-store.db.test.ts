import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { releasingLocks } from "./release-locks-store.ts";

const { database } = await testDatabase();
const { engine } = database;

test("a cancelled statement rejects when other connections can lock its rows", async () => {
  await engine.query("insert into workspaces (id, name) values ('wsp_1', 'Test')");
  await engine.query(`create function cancel() returns text language plpgsql as $$ begin
    raise query_canceled; end $$`);
  const connection = releasingLocks(engine);
  const other = await engine.connect();
  onTestFinished(() => other.release());
  for (let round = 0; round < 100; round++) {
    await expect(
      connection.query({
        text: `with locked as materialized (
          select id from workspaces where id = 'wsp_1' for update
        ) select cancel() from locked`,
      }),
    ).rejects.toThrow("query_canceled");
    const { rowCount } = await other.query(
      "select from workspaces where id = 'wsp_1' for update skip locked",
    );
    expect(rowCount).toBe(1);
  }
});
