import { Client } from "pg";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { ConfigError } from "../errors.ts";
import { inspectServer } from "./inspect-server.ts";

const { url } = await testDatabase();
const empty = await testDatabase({ empty: true });
const strict = { trustStorage: false };

async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

test("an empty database can be used, and the inspection leaves it empty", async () => {
  const inspected = await inspectServer(empty.url, strict);
  expect(inspected.version).toMatch(/^\d+(\.\d+)?/);
  expect(inspected.pendingMigrations).toBeGreaterThan(10);
  expect(Math.abs(inspected.clockAheadMs)).toBeLessThan(5_000);
  const tables = "select 1 from pg_class where relnamespace = 'public'::regnamespace";
  expect(await query(empty.url, tables)).toEqual([]);
});

test("a current database has no pending migration, one of a newer Beckon is rejected", async () => {
  expect(await inspectServer(url, strict)).toMatchObject({ pendingMigrations: 0 });
  await query(url, "insert into migrations (name) values ('9999-later.sql')");
  await expect(inspectServer(url, strict)).rejects.toThrow(ConfigError);
});
