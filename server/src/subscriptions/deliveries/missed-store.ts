import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { originOf } from "../../deliveries/index.ts";
import { isReplayable, maxReadDeliveries } from "./replay-store.ts";

const maxCountedMissed = 100_000;

/**
 * Counts the deliveries that were missed and can be replayed: those that became `not_sent` since
 * `inactiveSince`, and those that became `failed` since `failingSince` or, if it is null, since
 * `inactiveSince`. Reads the 100,000 of each status that ended last. Older ones are not counted,
 * because most deliveries can be of deleted runs, and reading them all could exceed the time limit
 * of a statement.
 * @returns `deliveries`: the number, at most 100,000. `oldest`: the id of the oldest one; undefined
 *   if there is none. If some were not read, `oldest` can be an older id.
 */
export async function countMissed(
  tx: WorkspaceTransaction,
  subscription: { readonly id: string; readonly workspace_id: string; readonly url: string },
  { inactiveSince, failingSince }: { inactiveSince: Date; failingSince: Date | null },
): Promise<{ deliveries: number; oldest: string | undefined }> {
  const replayable = isReplayable(originOf(subscription));
  // With "offset 0", PostgreSQL checks each delivery once. Without it, it could check each twice.
  const read = (status: string, since: Date, inOrder: RawBuilder<unknown>) => sql`(
    select d.id, d.finished_at >= ${since} and ${replayable} as is_missed from (
      select id, kind, run_id, workspace_id, callback_url, finished_at from deliveries
      where subscription_id = ${subscription.id} and workspace_id = ${subscription.workspace_id}
        and status = ${sql.lit(status)} ${inOrder} limit ${maxReadDeliveries}) d offset 0) d`;
  const newest = (status: string, since: Date) => sql`
    select count(*) = ${maxReadDeliveries} as is_part, min(id) filter (where is_missed) as oldest,
      count(*) filter (where is_missed) as deliveries
    from ${read(status, since, sql`and finished_at >= ${since} order by finished_at desc`)}`;
  // If none of those read was missed, all that were missed have higher ids than the last one read.
  // The range contains all ids. Without it, PostgreSQL could read all deliveries and sort them, if
  // its statistics are older than most of them.
  const oldest = (status: string, since: Date) => sql`
    select coalesce(min(id) filter (where is_missed),
      case when count(*) = ${maxReadDeliveries} then max(id) end) as id
    from ${read(status, since, sql`and id > 'dlv_' and id < 'dlv_z' order by id`)}`;
  const all = (part: typeof newest) => sql`(
    ${part("not_sent", inactiveSince)} union all ${part("failed", failingSince ?? inactiveSince)})`;
  // The query selects and orders deliveries by `finished_at`, so it does not read deliveries that
  // were missed at an earlier time. Ids could not exclude them: an id has the time of the event,
  // and the delivery of an old event can be replayed and then missed again.
  const { rows } = await sql<{ deliveries: number; oldest: string | null }>`
    select least(sum(deliveries), ${maxCountedMissed})::int as deliveries,
      case when bool_or(is_part) then (select min(id) from ${all(oldest)} d)
        else min(oldest) end as oldest
    from ${all(newest)} d`.execute(tx);
  return { deliveries: rows[0]?.deliveries ?? 0, oldest: rows[0]?.oldest ?? undefined };
}
