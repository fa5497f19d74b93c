import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { fillTwoWorkspaces } from "../../../test/filled-workspace.ts";
import { tenantTables } from "../../../test/rows-of.ts";
import { inWorkspace, type WorkspaceTransaction } from "./in-workspace.ts";

/**
 * Executes queries without a where clause on the workspace, on every table in the catalog.
 * Row-level security must hide the rows of other workspaces.
 */

const beckon = await startTestBeckon();
const [ours, theirs] = await fillTwoWorkspaces(beckon);
const { database } = beckon.db;
const tables = await tenantTables(beckon.db);
/**
 * Tables of users and not of workspaces: no query in a workspace sees their rows, not even those of
 * its own members.
 */
const ofPeople = ["accounts", "password_resets", "sessions"];

const here = <T>(work: (tx: WorkspaceTransaction) => Promise<T>) =>
  inWorkspace(database.tenant, ours.id, work);
const undone = new Error("undone");
/** Returns the result of `work` and rolls its changes back. */
async function tried<T>(work: (tx: WorkspaceTransaction) => Promise<T>): Promise<T> {
  let given: { value: T } | undefined;
  await here(async (tx) => {
    given = { value: await work(tx) };
    throw undone;
  }).catch((thrown) => {
    if (thrown !== undone) throw thrown;
  });
  if (given === undefined) throw new Error("the work was not executed");
  return given.value;
}
const linesOf = async (name: string, where: string, workspaceId: string) => {
  const { rows } = await database.engine.query<{ line: string }>(
    `select (to_jsonb(t) - 'last_used_at')::text as line from ${name} t where ${where} order by 1`,
    [workspaceId],
  );
  return rows.map(({ line }) => line);
};

test("every table except those of users belongs to a workspace", () => {
  expect(
    tables.filter(({ where }) => !/^(workspace_id|id) /.test(where)).map(({ name }) => name),
  ).toEqual(ofPeople);
});

describe.each(tables)("$name", ({ name, where }) => {
  let own: string[];
  let foreign: string[];
  beforeAll(async () => {
    [own, foreign] = [await linesOf(name, where, ours.id), await linesOf(name, where, theirs.id)];
    // Without rows of both workspaces the tests below would prove nothing. `filled-workspace.ts`
    // creates rows in every table.
    expect([own.length, foreign.length]).toEqual([
      expect.toSatisfy((count) => count > 0),
      expect.toSatisfy((count) => count > 0),
    ]);
  });
  const seen = () => (ofPeople.includes(name) ? [] : own);

  test("shows a query without a where clause only the transaction's workspace", async () => {
    const { rows } = await here((tx) =>
      sql<{
        line: string;
      }>`select (to_jsonb(t) - 'last_used_at')::text as line from ${sql.table(name)} t order by 1`.execute(
        tx,
      ),
    );
    expect(rows.map(({ line }) => line)).toEqual(seen());
  });

  test("shows no rows to a query outside of a workspace", async () => {
    expect((await sql`select from ${sql.table(name)}`.execute(database.tenant)).rows).toEqual([]);
  });

  test("limits an update without a where clause to the transaction's workspace", async () => {
    const key = where.split(" ")[0] ?? "";
    const changed = await tried((tx) =>
      sql`update ${sql.table(name)} set ${sql.ref(key)} = ${sql.ref(key)}`.execute(tx),
    ).catch((thrown: { code?: string }) => thrown.code);
    // `audit` and `usage_entries` are append-only: changing them is rejected in every workspace.
    if (["audit", "usage_entries"].includes(name)) expect(changed).toBe("23001");
    else expect(changed).toMatchObject({ numAffectedRows: BigInt(seen().length) });
  });

  test("accepts no row of another workspace", async () => {
    const row = foreign[0] ?? "";
    const insert = tried((tx) =>
      sql`insert into ${sql.table(name)} select * from jsonb_populate_record(null::${sql.table(name)}, ${row}::jsonb)`.execute(
        tx,
      ),
    );
    await expect(insert).rejects.toMatchObject({ code: "42501" });
  });

  test("still has the original rows of both workspaces", async () => {
    expect([await linesOf(name, where, ours.id), await linesOf(name, where, theirs.id)]).toEqual([
      own,
      foreign,
    ]);
  });
});
