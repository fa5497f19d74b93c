import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

export type WorkspaceRow = Selectable<Tables["workspaces"]>;

/** Inserts a workspace. @returns The row, or undefined if a workspace with this id exists. */
export function insertWorkspace(
  tx: WorkspaceTransaction,
  row: { id: string; name: string; time_zone?: string },
): Promise<WorkspaceRow | undefined> {
  return tx
    .insertInto("workspaces")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findWorkspaceRow(
  tx: WorkspaceTransaction,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return tx.selectFrom("workspaces").selectAll().where("id", "=", id).executeTakeFirst();
}

/**
 * Returns the workspace and locks its row against other changes until the transaction ends;
 * undefined if there is none.
 */
export function lockWorkspaceRow(
  tx: WorkspaceTransaction,
  id: string,
): Promise<WorkspaceRow | undefined> {
  return tx
    .selectFrom("workspaces")
    .selectAll()
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Returns up to `page.limit + 1` workspaces of which the person is a member, newest first. */
export function listWorkspaceRows(
  tx: WorkspaceTransaction,
  userId: string,
  page: PageRequest,
): Promise<WorkspaceRow[]> {
  const query = tx
    .selectFrom("workspaces")
    .selectAll()
    .where(
      "id",
      "in",
      tx.selectFrom("members").select("workspace_id").where("user_id", "=", userId),
    )
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

export function updateWorkspaceRow(
  tx: WorkspaceTransaction,
  id: string,
  change: { name?: string; time_zone?: string; run_retention_days?: number | null },
): Promise<WorkspaceRow> {
  return tx
    .updateTable("workspaces")
    .set({
      ...change,
      updated_at: sql<Date>`now()`,
      ...(change.time_zone === undefined
        ? {}
        : {
            time_zone_changed_at: sql<Date>`case when time_zone = ${change.time_zone}
              then time_zone_changed_at else now() end`,
          }),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Returns whether PostgreSQL has a time zone with this name, in upper or lower case. */
export async function isTimeZone(tx: WorkspaceTransaction, name: string): Promise<boolean> {
  const { rows } =
    await sql`select from pg_timezone_names where lower(name) = lower(${name})`.execute(tx);
  return rows.length > 0;
}
