import { expect, test } from "vitest";
import { testDatabase } from "./database.ts";

const { database, role, name } = await testDatabase();

test("a test file gets its own database, with our schema, under row-level security", async () => {
  const { rows } = await database.engine.query<{
    database: string;
    role: string;
    bypasses: boolean;
    agents: string;
  }>(
    `select current_database() as database, current_user as role,
        (select count(*) from agents) as agents,
        (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) as bypasses`,
  );
  expect(rows).toEqual([{ database: name, role: role ?? "beckon", bypasses: false, agents: "0" }]);
});
