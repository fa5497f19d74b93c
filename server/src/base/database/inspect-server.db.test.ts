import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { ConfigError } from "../errors.ts";
import { connectionSettings } from "./connect.ts";
import { inspectServer } from "./inspect-server.ts";
import { migrate } from "./migrate.ts";

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

/** Returns URLs of an empty database, as the superuser and as an ordinary role that owns it. */
async function ownDatabase() {
  const { adminUrl } = inject("server");
  const login = `login_${randomBytes(4).toString("hex")}`;
  await query(adminUrl, `create role ${login} login password 'secret'`);
  await query(adminUrl, `create database ${login} owner ${login}`);
  onTestFinished(async () => {
    await query(adminUrl, `drop database ${login} with (force)`);
    await query(adminUrl, `drop role ${login}`);
  });
  const admin = databaseAt(adminUrl, login);
  return { login, admin, own: admin.replace(/\/\/[^@]*@/, `//${login}:secret@`) };
}

test("tables in a schema with the name of the role are inspected, as startup uses them", async () => {
  const { login, own } = await ownDatabase();
  await query(own, `create schema authorization ${login}`);
  await migrate(connectionSettings({ url: own, role: undefined }, "*"), async (client) => {
    await client.query("update installation set master_key_check = 'v1.check'");
  });
  expect(await inspectServer(own, strict)).toMatchObject({
    pendingMigrations: 0,
    masterKeyCheck: "v1.check",
  });
});

test("if the role can use no schema, the inspection and startup say what to grant", async () => {
  const { login, admin, own } = await ownDatabase();
  await query(admin, "revoke all on schema public from public, pg_database_owner");
  const settings = connectionSettings({ url: own, role: undefined }, "*");
  const advice = `grant usage, create on schema public to ${login};`;
  await expect(inspectServer(own, strict)).rejects.toThrow(advice);
  await expect(migrate(settings, async () => {})).rejects.toThrow(advice);
});
