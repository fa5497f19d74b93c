import type { Database } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import { findUnknownTimeZones } from "./time-zone-store.ts";

/** Logs the time zones of workspaces that PostgreSQL does not know. Call it at startup. */
export async function reportUnknownTimeZones(
  database: Pick<Database["engine"], "query">,
  log: Pick<Log, "write">,
): Promise<void> {
  for (const { timeZone, workspaces, workspaceIds } of await findUnknownTimeZones(database))
    log.write("PostgreSQL does not know the time zone of workspaces; set another one", {
      time_zone: timeZone,
      workspaces,
      workspace_ids: workspaceIds,
    });
}
