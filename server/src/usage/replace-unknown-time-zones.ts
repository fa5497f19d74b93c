import { changes, recordInEach } from "../base/audit/index.ts";
import { type Database, isInvalidParameter } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import { sameTimeZone } from "./same-time-zone.ts";
import { changeTimeZone, findUnknownTimeZones, listTimeZones } from "./time-zone-store.ts";

interface Services {
  readonly database: Database;
  readonly log: Pick<Log, "write">;
}

/** Maximum number of ids that a log line has. */
const maxIds = 20;

/**
 * Gives workspaces whose time zone PostgreSQL does not know another one: another name of the same
 * time zone, or UTC if there is none. Otherwise their days could not be determined, and so their
 * runs could not end. Their limits keep the current period, as after any change of the time zone.
 * Call it at startup, before runs are ended or resumed.
 * @throws errors of PostgreSQL as they are, because batchers decide by them whether they retry.
 */
export async function replaceUnknownTimeZones({ database, log }: Services): Promise<void> {
  const unknown = await findUnknownTimeZones(database.engine);
  if (unknown.length === 0) return;
  const known = await listTimeZones(database.engine);
  for (const timeZone of unknown) {
    const replacement = sameTimeZone(timeZone, known) ?? "UTC";
    const data = changes({ time_zone: timeZone }, { time_zone: replacement });
    // Not `inAllWorkspaces`, which replaces the errors of a lost connection.
    const workspaceIds = await database.accounts.transaction().execute(async (tx) => {
      const ids = await changeTimeZone(tx, timeZone, replacement);
      await recordInEach(tx, ids, { actor: { kind: "system" } }, (id) => ({
        action: "workspace.update",
        target: id,
        data,
      }));
      return ids;
    });
    // Another process can have replaced it meanwhile.
    if (workspaceIds.length === 0) continue;
    log.write("PostgreSQL does not know the time zone of workspaces; check the one they got", {
      time_zone: timeZone,
      new_time_zone: replacement,
      workspaces: workspaceIds.length,
      workspace_ids: workspaceIds.toSorted().slice(0, maxIds),
    });
  }
}

/**
 * Calls `act`. If it fails because PostgreSQL does not know a time zone, replaces all unknown ones
 * and calls it again: an upgrade of PostgreSQL can have removed time zones since startup. They are
 * only looked up after such an error, because that takes tens of milliseconds.
 */
export async function withKnownTimeZones<T>(services: Services, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    if (!isInvalidParameter(thrown)) throw thrown;
    await replaceUnknownTimeZones(services);
    return act();
  }
}
