import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { newId } from "../base/ids.ts";
import { pruneReceived } from "./prune-statement.ts";

const { database } = await testDatabase();

test("old requests, expired event ids and old counts are deleted, the others stay", async () => {
  const insert = (id: string, days: number) =>
    database.engine.query(
      `with q as (
        insert into received_requests (id, workspace_id, agent_id, trigger_id, received_at, outcome, size)
        values ($1, 'w', 'a', 't', now() - make_interval(days => $2), 'started', 0)
      ), c as (
        insert into request_counts (workspace_id, trigger_id, outcome, minute, count)
        values ('w', $1, 'rejected', now() - make_interval(days => $2), 1)
      )
      insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
      values ('w', 't', $1, 'r', now() + interval '30 days' - make_interval(days => $2))`,
      [id, days],
    );
  const kept = newId("req");
  await insert(kept, 29);
  // More than one batch.
  for (let count = 0; count < 600; count++) await insert(newId("req"), 31);
  await pruneReceived(database);
  for (const [table, id] of [
    ["received_requests", "id"],
    ["trigger_event_ids", "event_id"],
    ["request_counts", "trigger_id"],
  ]) {
    const { rows } = await database.engine.query(`select ${id} as id from ${table}`);
    expect(rows, table).toEqual([{ id: kept }]);
  }
});
