import { sql } from "kysely";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent, startOne } from "../../../test/tenant.ts";
import { newId } from "../ids.ts";
import { inWorkspace } from "./in-workspace.ts";
import type { Tables } from "./tables.ts";

/**
 * Row-level security protects against missing where clauses, for both kinds of login: an ordinary
 * role that owns the tables, and a superuser that switches to the role `beckon_server`. See also
 * `schema.sql`.
 */

const { database, role } = await testDatabase();
const ours = await seedAgent(database);
const theirs = await seedAgent(database);
await startOne(database, ours);
await startOne(database, theirs, { key: "k", bodyHash: Buffer.alloc(32) });

/** Tables in which both workspaces have rows. */
const filled = [
  "agents",
  "agent_versions",
  "tokens",
  "runs",
  "run_inputs",
  "events",
  "audit",
] as const satisfies readonly (keyof Tables)[];

test("row-level security applies to every connection", async () => {
  const question =
    "select current_user as name, rolsuper or rolbypassrls as bypasses from pg_roles where rolname = current_user";
  const expected = { name: role ?? "beckon", bypasses: false };
  expect((await database.engine.query(question)).rows).toEqual([expected]);
  expect((await database.lease.query(question)).rows).toEqual([expected]);
  expect((await sql.raw(question).execute(database.tenant)).rows).toEqual([expected]);
});

test.each(filled)(
  "a query of %s without a where clause sees its transaction's workspace only",
  async (table) => {
    for (const { workspaceId } of [ours, theirs]) {
      const rows = await inWorkspace(database.tenant, workspaceId, (tx) =>
        tx.selectFrom(table).select("workspace_id").execute(),
      );
      expect(rows.length).toBeGreaterThan(0);
      expect(new Set(rows.map((row) => row.workspace_id))).toEqual(new Set([workspaceId]));
    }
  },
);

test("a workspace sees no other workspace", async () => {
  const rows = await inWorkspace(database.tenant, ours.workspaceId, (tx) =>
    tx.selectFrom("workspaces").select("id").execute(),
  );
  expect(rows).toEqual([{ id: ours.workspaceId }]);
});

test.each([...filled, "workspaces"] as const)(
  "a query of %s sees nothing when no workspace is set",
  async (table) => {
    expect(await database.tenant.selectFrom(table).selectAll().execute()).toEqual([]);
    // A connection that was used for a workspace before sees no rows either.
    await inWorkspace(database.tenant, ours.workspaceId, (tx) =>
      tx.selectFrom(table).selectAll().execute(),
    );
    const all = Array.from({ length: 10 }, () =>
      database.tenant.selectFrom(table).selectAll().execute(),
    );
    expect((await Promise.all(all)).flat()).toEqual([]);
  },
);

test("the workspace setting ends with its transaction, after commit and rollback", async () => {
  await inWorkspace(database.tenant, ours.workspaceId, async () => {
    throw new Error("rolled back");
  }).catch(() => {});
  const settings = await Promise.all(
    Array.from({ length: 10 }, () =>
      sql<{
        workspace: string | null;
      }>`select current_setting('beckon.workspace', true) as workspace`.execute(database.tenant),
    ),
  );
  expect(settings.map(({ rows }) => rows[0]?.workspace || null)).toEqual(
    Array.from({ length: 10 }, () => null),
  );
});

test("an empty or unknown workspace sees no rows", async () => {
  for (const workspaceId of ["", "wsp_other", "%", "wsp_' or true --"]) {
    expect(
      await inWorkspace(database.tenant, workspaceId, (tx) =>
        tx.selectFrom("agents").selectAll().execute(),
      ),
    ).toEqual([]);
  }
});

test("rows of another workspace cannot be inserted, updated, deleted or moved", async () => {
  const here = <T>(work: Parameters<typeof inWorkspace<T>>[2]) =>
    inWorkspace(database.tenant, ours.workspaceId, work);
  const foreign = {
    id: newId("agt"),
    workspace_id: theirs.workspaceId,
    version: 1,
    name: "x",
    max_queued_runs: 1,
  };
  await expect(here((tx) => tx.insertInto("agents").values(foreign).execute())).rejects.toThrow(
    /row-level security/,
  );
  await expect(
    here((tx) =>
      tx
        .insertInto("workspaces")
        .values({ id: newId("wsp"), name: "x" })
        .execute(),
    ),
  ).rejects.toThrow(/row-level security/);
  await expect(
    here((tx) =>
      tx
        .updateTable("agents")
        .set({ workspace_id: theirs.workspaceId })
        .where("id", "=", ours.agentId)
        .execute(),
    ),
  ).rejects.toThrow(/row-level security/);

  const changed = await here((tx) =>
    tx.updateTable("agents").set({ name: "changed" }).executeTakeFirst(),
  );
  expect(changed.numUpdatedRows).toBe(1n);
  const deleted = await here((tx) =>
    tx.deleteFrom("tokens").where("agent_id", "=", theirs.agentId).executeTakeFirst(),
  );
  expect(deleted.numDeletedRows).toBe(0n);
  const { rows } = await database.engine.query("select name from agents where id = $1", [
    theirs.agentId,
  ]);
  expect(rows).toEqual([{ name: "Test" }]);
});

test("a row cannot reference a row of another workspace", async () => {
  const insert = inWorkspace(database.tenant, ours.workspaceId, (tx) =>
    tx
      .insertInto("triggers")
      .values({
        id: newId("trg"),
        workspace_id: ours.workspaceId,
        agent_id: theirs.agentId,
        name: "x",
        prompt_prefix: "",
        enabled: true,
      })
      .execute(),
  );
  await expect(insert).rejects.toMatchObject({ code: "23503" });
});

test("the tenant pool can see other rows only by setting the workspace", async () => {
  await expect(
    inWorkspace(database.tenant, ours.workspaceId, (tx) =>
      sql`set local row_security = off`
        .execute(tx)
        .then(() => tx.selectFrom("agents").selectAll().execute()),
    ),
  ).rejects.toMatchObject({ code: "42501" });
});

test("every tenant table has forced row-level security and composite foreign keys", async () => {
  const { rows: tables } = await database.engine.query<{
    name: string;
    secured: boolean;
    policies: string[];
  }>(
    `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as secured,
        array(select format('%s %s %s %s', p.polpermissive, p.polcmd, p.polroles, pg_get_expr(p.polqual, p.polrelid)) from pg_policy p where p.polrelid = c.oid) as policies
      from pg_class c
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
        and (c.relname = 'workspaces' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped))
      order by c.relname`,
  );
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...filled,
      "workspaces",
      "idempotency",
      "keys",
      "key_secrets",
      "providers",
      "triggers",
    ]),
  );
  for (const { name, secured, policies } of tables) {
    const column = name === "workspaces" ? "id" : "workspace_id";
    const expression = `((current_setting('beckon.workspace'::text, true) = '*'::text) OR (current_setting('beckon.workspace'::text, true) = ${column}))`;
    expect({ name, secured, policies }).toEqual({
      name,
      secured: true,
      policies: [`t * {0} ${expression}`],
    });
  }

  // Foreign keys between tables of a workspace must include `workspace_id`. Otherwise a constraint
  // could reveal whether another workspace has a row.
  const { rows: references } = await database.engine.query<{ line: string }>(
    `select format('%s: %s', c.conrelid::regclass, pg_get_constraintdef(c.oid)) as line
      from pg_constraint c
      where c.contype = 'f' and c.confrelid <> 'workspaces'::regclass
        and exists (select from pg_attribute a where a.attrelid = c.conrelid and a.attname = 'workspace_id')
        and exists (select from pg_attribute a where a.attrelid = c.confrelid and a.attname = 'workspace_id')
        and not exists (
          select from generate_subscripts(c.conkey, 1) as i
          join pg_attribute own on own.attrelid = c.conrelid and own.attnum = c.conkey[i] and own.attname = 'workspace_id'
          join pg_attribute other on other.attrelid = c.confrelid and other.attnum = c.confkey[i] and other.attname = 'workspace_id'
        )`,
  );
  expect(references).toEqual([]);

  // Every table that references a row of a workspace must have the column `workspace_id`, because
  // the policies compare this column.
  const { rows: loose } = await database.engine.query<{ name: string }>(
    `select distinct c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and a.attname in ('agent_id', 'run_id', 'trigger_id', 'provider_id')
        and not exists (select from pg_attribute w where w.attrelid = c.oid and w.attname = 'workspace_id')`,
  );
  expect(loose).toEqual([]);
});

test("a workspace sees the names of its own members, and no credentials of users", async () => {
  for (const [index, { workspaceId }] of [ours, theirs].entries()) {
    const id = `usr_${index}`;
    await database.engine.query("insert into users (id, name, email) values ($1, 'Test', $2)", [
      id,
      `${index}@example.com`,
    ]);
    await database.engine.query(
      "insert into members (user_id, workspace_id, role) values ($1, $2, 'owner')",
      [id, workspaceId],
    );
    await database.engine.query(
      "insert into accounts (id, user_id, account_id, method, password) values ($1, $2, $2, 'credential', 'x')",
      [newId("acc"), id],
    );
    await database.engine.query(
      "insert into sessions (id, user_id, token, expires_at) values ($1, $2, $1, now() + interval '1 day')",
      [newId("ses"), id],
    );
    await database.engine.query(
      "insert into password_resets (user_id, hash, expires_at, created_by, created_in) values ($1, $2, now(), 'system', $3)",
      [id, Buffer.from(id), workspaceId],
    );
  }
  const here = <T>(work: Parameters<typeof inWorkspace<T>>[2]) =>
    inWorkspace(database.tenant, ours.workspaceId, work);
  expect(await here((tx) => tx.selectFrom("users").select("id").execute())).toEqual([
    { id: "usr_0" },
  ]);
  expect(await here((tx) => tx.selectFrom("members").select("user_id").execute())).toEqual([
    { user_id: "usr_0" },
  ]);
  for (const table of ["accounts", "sessions", "password_resets"] as const) {
    expect(await here((tx) => tx.selectFrom(table).selectAll().execute())).toEqual([]);
    expect((await database.engine.query(`select from ${table}`)).rowCount).toBe(2);
  }
  const taken = await here((tx) =>
    tx.updateTable("accounts").set({ password: "y" }).executeTakeFirst(),
  );
  expect(taken.numUpdatedRows).toBe(0n);
});

test("no views or functions bypass row-level security", async () => {
  const { rows } = await database.engine.query(
    `select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef
      union all select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
  );
  expect(rows).toEqual([]);
});
