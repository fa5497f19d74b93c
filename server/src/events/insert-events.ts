import { eventVersion } from "@beckon/contract";

/**
 * Returns SQL that inserts events of runs. It is the only insert into their table, so a new column
 * or side effect of every event belongs here.
 *
 * @param source common table expression with the columns run_id, seq, workspace_id, agent_id, id,
 *   type, data, and `transaction`: the run's `last_transaction`, which orders the events of a
 *   workspace.
 * @returns common table expressions to put after `source`.
 */
export function insertEvents(source: string): string {
  return `written_events as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select run_id, seq, workspace_id, transaction, id, type, ${eventVersion}, data from ${source}
)`;
}

/**
 * Returns SQL that inserts workspace events, which belong to no run. It is the only insert into
 * their table.
 *
 * @param source common table expression with the columns workspace_id, agent_id, id, type, data.
 * @returns common table expressions to put after `source`.
 */
export function insertWorkspaceEvents(source: string): string {
  return `written_workspace_events as (
  insert into workspace_events (workspace_id, agent_id, id, type, version, data)
  select workspace_id, agent_id, id, type, ${eventVersion}, data from ${source}
)`;
}
