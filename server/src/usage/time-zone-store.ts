import type { Database } from "../base/database/index.ts";

/** A stored time zone that PostgreSQL does not know, and workspaces that have it. */
interface UnknownTimeZone {
  readonly timeZone: string;
  /** Number of workspaces that have it. */
  readonly workspaces: number;
  /** The ids of these workspaces, at most `maxIds`. */
  readonly workspaceIds: readonly string[];
}

const maxIds = 20;

/**
 * Returns the time zones of workspaces that PostgreSQL does not know. It knew them when they were
 * stored, but after an upgrade it can have another list of time zones. Takes tens of milliseconds
 * if a workspace has another time zone than UTC, because PostgreSQL then reads the files of all
 * time zones.
 */
export async function findUnknownTimeZones(
  database: Pick<Database["engine"], "query">,
): Promise<readonly UnknownTimeZone[]> {
  const { rows } = await database.query<UnknownTimeZone>({
    name: "find-unknown-time-zones",
    text: `select w.time_zone as "timeZone", count(*)::int as workspaces,
        (array_agg(w.id order by w.id))[1:$1::int] as "workspaceIds"
      from workspaces w
      where w.time_zone <> 'UTC'
        and not exists (select from pg_timezone_names n where lower(n.name) = lower(w.time_zone))
      group by w.time_zone order by w.time_zone`,
    values: [maxIds],
  });
  return rows;
}
