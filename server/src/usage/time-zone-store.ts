import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../base/database/index.ts";

/**
 * Returns the time zones of workspaces that PostgreSQL does not know. It knew them when they were
 * stored, but after an upgrade or a move it can have another list of time zones. Takes tens of
 * milliseconds if a workspace has another time zone than UTC, because PostgreSQL then reads the
 * files of all time zones.
 */
export async function findUnknownTimeZones(
  database: Pick<Database["engine"], "query">,
): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>({
    name: "find-unknown-time-zones",
    text: `select distinct w.time_zone as name
      from workspaces w
      where w.time_zone <> 'UTC'
        and not exists (select from pg_timezone_names n where lower(n.name) = lower(w.time_zone))
      order by name`,
  });
  return rows.map(({ name }) => name);
}

/** Returns the names of all time zones that PostgreSQL knows. */
export async function listTimeZones(
  database: Pick<Database["engine"], "query">,
): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>({
    name: "list-time-zones",
    text: "select name from pg_timezone_names order by name",
  });
  return rows.map(({ name }) => name);
}

/** Changes a time zone of workspaces to another one. @returns the ids of these workspaces. */
export async function changeTimeZone(
  tx: WorkspaceTransaction,
  from: string,
  to: string,
): Promise<readonly string[]> {
  const rows = await tx
    .updateTable("workspaces")
    .set({ time_zone: to, updated_at: sql<Date>`now()` })
    .where("time_zone", "=", from)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}
