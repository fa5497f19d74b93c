import { lowestIdAt } from "../base/ids.ts";
import { daysBefore, runDaysOf } from "../base/retention/index.ts";
import { inEachWorkspace } from "./in-each-workspace.ts";
import type { Batch, PrepareDeletion, Queryable } from "./kinds.ts";
import { requestsWithoutRun } from "./requests-store.ts";

/**
 * Deletes runs that ended longer ago than their retention, with the rows that belong to them.
 * Entries in the usage ledger, Idempotency-Keys, event ids, deliveries and received requests have
 * their own retentions, so they stay, but deliveries and received requests lose their content.
 */
export const oldRuns: PrepareDeletion = (connection, retention, now) =>
  inEachWorkspace(connection, ({ id: workspaceId, runDays }) => {
    const days = runDaysOf(retention, runDays);
    if (days === 0) return undefined;
    const before = daysBefore(days, now);
    let after = "";
    return async (max, { keepsNext } = { keepsNext: false }) => {
      const { last, ...batch } = await deleteRuns(connection, workspaceId, {
        runDays,
        after,
        before,
        max: keepsNext ? 1 : max,
        keepsNext,
      });
      after = last ?? after;
      return batch;
    };
  });

/**
 * Deletes a workspace's runs in one statement, so that a run is deleted with all its rows or not at
 * all. Skips runs that have not ended, whose deliveries are pending, or that a transaction has
 * locked, for example to replay a delivery.
 * @param options `runDays`: the days from which `before` was computed. If the workspace has chosen
 *   other days since, nothing is deleted, and the next pass uses these. `keepsNext`: reads the runs,
 *   but deletes none.
 */
async function deleteRuns(
  connection: Queryable,
  workspaceId: string,
  {
    runDays,
    after,
    before,
    max,
    keepsNext,
  }: { runDays: number | null; after: string; before: Date; max: number; keepsNext: boolean },
): Promise<Batch & { last: string | null }> {
  const { rows } = await connection.query<{
    runs: number;
    events: number;
    artifacts: number;
    last: string | null;
  }>({
    name: "prune-runs",
    text: `with oldest as materialized (
        -- Workspace and id are compared as a pair, for which PostgreSQL can use only the index
        -- runs_by_workspace.
        select r.id from runs r
        where (r.workspace_id, r.id) > ($1, $2) and (r.workspace_id, r.id) < ($1, $3)
          and exists (select from workspaces w
            where w.id = $1 and w.run_retention_days is not distinct from $6)
        order by r.workspace_id, r.id limit $5
      ), ended as materialized (
        select r.id from runs r
        where r.id = any (array(select id from oldest)) and r.workspace_id = $1
          and r.finished_at < $4 and not $7::boolean
          -- The status is not compared with "=", because PostgreSQL could then read the partial
          -- index of all pending deliveries for each run, and not the index of the run's deliveries.
          and not exists (select from deliveries d
            where d.run_id = r.id and d.status is not distinct from 'pending')
        for update of r skip locked
      ), runs_gone as (
        delete from runs r where r.id = any (array(select id from ended)) and r.workspace_id = $1
        returning 1
      ), inputs_gone as (
        delete from run_inputs i
        where i.run_id = any (array(select id from ended)) and i.workspace_id = $1
      ), drafts_gone as (
        delete from run_drafts t
        where t.run_id = any (array(select id from ended)) and t.workspace_id = $1
      ), results_gone as (
        delete from run_results e
        where e.run_id = any (array(select id from ended)) and e.workspace_id = $1
      ), callbacks_gone as (
        delete from run_callbacks c
        where c.run_id = any (array(select id from ended)) and c.workspace_id = $1
      ), events_gone as (
        -- There is no condition on the workspace. With one, PostgreSQL could read all events of the
        -- workspace by the index of the event stream, instead of using the primary key.
        delete from events e where e.run_id = any (array(select id from ended)) returning 1
      ), artifacts_gone as (
        delete from artifacts a
        where a.run_id = any (array(select id from ended)) and a.workspace_id = $1
        returning 1
      ), requests_emptied as (
        update received_requests q set query = null, headers = null, body = null, error = null
        where q.run_id = any (array(select id from ended))
        returning q.trigger_id, q.event_id, q.replay_of
      ), copies_emptied as (
        update received_requests q set query = null, headers = null, body = null, error = null
        where q.ctid = any (array(${requestsWithoutRun("requests_emptied")}))
      ), deliveries_emptied as (
        -- A delivery that became pending after this statement began is cancelled: its run is gone.
        update deliveries d set data = null, next_at = null,
          status = case when d.status = 'pending' then 'cancelled' else d.status end,
          finished_at = case when d.finished_at is null then now() else d.finished_at end
        where d.run_id = any (array(select id from ended))
        returning d.subscription_id, d.id
      ), attempts_emptied as (
        -- The response of a receiver is removed too, because it can repeat the event's data.
        update delivery_attempts a set response_body = '' from deliveries_emptied d
        where a.subscription_id = d.subscription_id and a.delivery_id = d.id
          and a.response_body <> ''
      )
      select (select count(*)::int from runs_gone) as runs,
        (select count(*)::int from events_gone) as events,
        (select count(*)::int from artifacts_gone) as artifacts,
        (select max(id) from oldest) as last`,
    // The time in an id is that of creation. A run that ended before `before` was also created
    // before it, so its id is below this limit.
    values: [workspaceId, after, lowestIdAt("run", before), before, max, runDays, keepsNext],
  });
  const { last = null, ...deleted } = rows[0] ?? {};
  return { deleted, hasMore: last !== null, last };
}
