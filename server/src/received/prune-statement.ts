import type { Database } from "../base/database/index.ts";

/** Received requests and their counts are deleted after this many days. */
const keptDays = 30;

/** Maximum rows that one statement deletes, so that no statement locks many rows or takes long. */
const batchRows = 500;
/** Maximum statements per sweep and table, so that a sweep ends. The next sweep continues. */
const maxBatches = 40;

const statements = [
  {
    name: "prune-received-requests",
    text: `delete from received_requests where (trigger_id, id) in (
      select trigger_id, id from received_requests
      where received_at < now() - interval '${keptDays} days'
      order by received_at limit ${batchRows} for update skip locked)`,
  },
  {
    name: "prune-event-ids",
    text: `delete from trigger_event_ids where (trigger_id, event_id) in (
      select trigger_id, event_id from trigger_event_ids where expires_at < now()
      order by expires_at limit ${batchRows} for update skip locked)`,
  },
  {
    name: "prune-request-counts",
    text: `delete from request_counts where (trigger_id, outcome, minute) in (
      select trigger_id, outcome, minute from request_counts
      where minute < now() - interval '${keptDays} days'
      order by minute limit ${batchRows} for update skip locked)`,
  },
];

/** Deletes received requests after 30 days, and event ids that have expired. */
export async function pruneReceived(database: Database, signal?: AbortSignal): Promise<void> {
  for (const { name, text } of statements) {
    for (let batch = 0; batch < maxBatches && signal?.aborted !== true; batch++) {
      const { rowCount } = await database.engine.query({ name, text, values: [] });
      if ((rowCount ?? 0) < batchRows) break;
    }
  }
}
