import { sql } from "kysely";
import {
  isInvalidParameter,
  type Queryable,
  type WorkspaceTransaction,
} from "../base/database/index.ts";

/**
 * Returns the time zones of workspaces that PostgreSQL does not know. It knew them when they were
 * stored, but after an upgrade or a move it can have another list of time zones. Takes tens of
 * milliseconds if a workspace has another time zone than UTC, because PostgreSQL then reads the
 * files of all time zones.
 */
export async function findUnknownTimeZones(database: Queryable): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>({
    name: "find-unknown-time-zones",
    text: `select distinct w.time_zone as name
      from workspaces w
      where w.time_zone <> 'UTC'
        and not exists (select from pg_timezone_names n where lower(n.name) = lower(w.time_zone))
      order by name`,
  });
  const unknown: string[] = [];
  for (const { name } of rows) if (!(await isAccepted(database, name))) unknown.push(name);
  return unknown;
}

/**
 * Returns whether PostgreSQL accepts a time zone. It also accepts some that are not in its list of
 * names, for example `<+03>-3` (POSIX), which an operator can have written to a row.
 */
async function isAccepted(database: Queryable, name: string): Promise<boolean> {
  try {
    await database.query({
      name: "try-time-zone",
      text: "select now() at time zone $1",
      values: [name],
    });
    return true;
  } catch (thrown) {
    if (isInvalidParameter(thrown)) return false;
    throw thrown;
  }
}

/** Returns the names of all time zones that PostgreSQL knows. */
export async function listTimeZones(database: Queryable): Promise<readonly string[]> {
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
    .set({
      time_zone: to,
      time_zone_changed_at: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
    })
    .where("time_zone", "=", from)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}
