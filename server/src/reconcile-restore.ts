import type { Queryable } from "./base/database/index.ts";
import type { Log } from "./base/log.ts";
import { closeRestored } from "./deliveries/index.ts";
import { finishRestore, reconcileHistory } from "./events/index.ts";
import { recordDeaths } from "./processes/index.ts";
import { createPricer, endRestored } from "./runs/index.ts";
import { renumberEntries } from "./usage/index.ts";

/**
 * Makes all event cursors invalid if it detects that the database was restored, or that PostgreSQL
 * failed over to a standby. If `beckon restore` has marked the database, also ends what was in
 * progress: runs end `interrupted`, and pending deliveries, including those of these runs, are not
 * sent. The mark is removed last, so if this startup is killed, the next startup does all of this
 * again.
 * @param services `client`: a connection that can read all workspaces and holds the migration lock,
 *   so that no other process starts meanwhile. The other fields are those of `createPricer`.
 */
export async function reconcileRestore(
  {
    client,
    database,
    ...pricing
  }: Parameters<typeof createPricer>[0] & {
    readonly client: Queryable;
  },
  log: Log,
): Promise<void> {
  const isMarked = await reconcileHistory(client, log);
  await renumberEntries(client, log);
  if (!isMarked) return;
  await recordDeaths(client, "all", "");
  const runs = await endRestored({ database, pricer: createPricer({ database, ...pricing }) });
  const deliveries = await closeRestored(database);
  await finishRestore(client, log);
  log.write(
    "the database was restored from a backup: runs in progress were ended, deliveries were not sent",
    { runs, deliveries },
  );
}
