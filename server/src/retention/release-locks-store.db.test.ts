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

test("a statement that exceeds transaction_timeout rejects when others can lock its rows, and later ones succeed", async () => {
  await engine.query("insert into workspaces (id, name) values ('wsp_2', 'Test')");
  const connection = releasingLocks(engine);
  const other = await engine.connect();
  onTestFinished(() => other.release());
  for (let round = 0; round < 20; round++) {
    await expect(
      connection.query({
        text: `with locked as materialized (
          select id from workspaces where id = 'wsp_2' for update
        ) select set_config('transaction_timeout', '1', true), pg_sleep(60) from locked`,
      }),
    ).rejects.toMatchObject({ code: "25P04" });
    const { rowCount } = await other.query(
      "select from workspaces where id = 'wsp_2' for update skip locked",
    );
    expect(rowCount).toBe(1);
  }
  expect((await engine.query("select")).rowCount).toBe(1);
});
