import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { originOf } from "../../deliveries/index.ts";
import { isReplayable } from "./replay-store.ts";

const maxCountedMissed = 100_000;

/**
 * Counts the deliveries that were missed and can be replayed: those that became `not_sent` since
 * `inactiveSince`, and those that became `failed` since `failingSince` or, if it is null, since
 * `inactiveSince`.
 * @returns `deliveries`: the number, at most 100,000. `oldest`: the id of the oldest one, even if
 *   there are more than 100,000; undefined if there is none.
 */
export async function countMissed(
  tx: WorkspaceTransaction,
  subscription: { readonly id: string; readonly workspace_id: string; readonly url: string },
  { inactiveSince, failingSince }: { inactiveSince: Date; failingSince: Date | null },
): Promise<{ deliveries: number; oldest: string | undefined }> {
  const missed = (status: string, since: Date, order: string, limit: number) => sql`(
    select id from deliveries d
    where subscription_id = ${subscription.id} and workspace_id = ${subscription.workspace_id}
      and status = ${sql.lit(status)} and finished_at >= ${since}
      and ${isReplayable(originOf(subscription))}
    order by ${sql.ref(order)} limit ${limit})`;
  const all = (order: string, limit: number) => sql`(
    ${missed("not_sent", inactiveSince, order, limit)} union all
    ${missed("failed", failingSince ?? inactiveSince, order, limit)})`;
  // The query selects and orders deliveries by `finished_at`, so it does not read deliveries that
  // were missed at an earlier time. Ids could not exclude them: an id has the time of the event,
  // and the delivery of an old event can be replayed and then missed again.
  const { rows } = await sql<{ deliveries: number; oldest: string | null }>`
    select least(count(*), ${maxCountedMissed})::int as deliveries,
      case when count(*) < ${maxCountedMissed} then min(id)
        else (select min(id) from ${all("id", 1)} d) end as oldest
    from ${all("finished_at", maxCountedMissed)} d`.execute(tx);
  return { deliveries: rows[0]?.deliveries ?? 0, oldest: rows[0]?.oldest ?? undefined };
}
