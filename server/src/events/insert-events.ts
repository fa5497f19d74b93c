import { eventVersion } from "@beckon/contract";
import {
  insertRunDeliveries,
  insertWorkspaceDeliveries,
  type RunFacts,
} from "./insert-deliveries.ts";

/**
 * Returns SQL that inserts run events and their deliveries to subscriptions. No other code inserts
 * into the table `events`, so a new column of all run events, or a side effect of writing them,
 * belongs here.
 *
 * @param source name of a common table expression with the columns run_id, seq, workspace_id,
 *   agent_id, id, type, data and `transaction`. The last one is the run's `last_transaction`, by
 *   which the events of a workspace are ordered.
 * @param options `facts`: where the statement reads what it needs about the runs. Default: in the
 *   tables. `withDeliveries`: whether to insert the deliveries. Default true. If it is
 *   false, `source` must be empty while `someSubscriptions` is true, or events would be written
 *   without their deliveries.
 * @returns common table expressions to put after `source`.
 */
export function insertEvents(
  source: string,
  {
    facts,
    withDeliveries = true,
  }: { readonly facts?: Partial<RunFacts>; readonly withDeliveries?: boolean } = {},
): string {
  return `written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, ${eventVersion}, data from ${source}
)${withDeliveries ? `, ${insertRunDeliveries(source, { run: "tables", callback: "tables", ...facts })}` : ""}`;
}

/**
 * Returns SQL that inserts workspace events, which belong to no run, and their deliveries to
 * subscriptions. No other code inserts into the table `workspace_events`.
 *
 * @param source name of a common table expression with the columns workspace_id, agent_id, id,
 *   type, data.
 * @param options `withDeliveries`: as in `insertEvents`.
 * @returns common table expressions to put after `source`.
 */
export function insertWorkspaceEvents(
  source: string,
  { withDeliveries = true }: { readonly withDeliveries?: boolean } = {},
): string {
  return `written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, ${eventVersion}, data from ${source}
)${withDeliveries ? `, ${insertWorkspaceDeliveries(source)}` : ""}`;
}
