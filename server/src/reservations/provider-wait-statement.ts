import { type Database, statement } from "../base/database/index.ts";
import type { RunClaim } from "./reserve-statement.ts";

/** The claim of a run that waits for its model's provider. */
export interface WaitingClaim extends RunClaim {
  readonly workspaceId: string;
}

/**
 * SQL condition that the run of a reservation `v` waits for its model's provider, or waited when
 * its process was lost: no model call is in flight.
 */
export const waitsForProviderSql = "(v.state = 'held' and v.asked ? 'provider')";

/**
 * Statement that records in the run's reservation that the run waits for its provider. A run
 * without limits gets a reservation of nothing. The lock on the run's row makes the statement wait
 * for a concurrent claim, after which it writes nothing: the next owner may have sent a call.
 */
const recordStatement = statement<WaitingClaim>("record-provider-wait", (p) => {
  const runId = p.value("text", (claim) => claim.runId);
  const workspaceId = p.value("text", (claim) => claim.workspaceId);
  const owner = p.value("text", (claim) => claim.owner);
  const fence = p.value("int", (claim) => claim.fence);
  return `
with owned as materialized (
  select r.id, r.workspace_id, r.agent_id from runs r
  where r.id = ${runId} and r.workspace_id = ${workspaceId} and r.status = 'running'
    and r.owner = ${owner} and r.fence = ${fence}
  for share
)
insert into reservations as v (run_id, workspace_id, agent_id, principal, trigger_id, state, asked,
  cost_micros, plan_cost_micros)
select o.id, o.workspace_id, o.agent_id, i.principal, i.trigger_id, 'held', '{"provider": true}',
  0, 0
from owned o join run_inputs i on i.run_id = o.id and i.workspace_id = o.workspace_id
on conflict (run_id, workspace_id) do update set asked = excluded.asked,
  seen_at = clock_timestamp() where v.state = 'held'`;
});

/** Statement that removes the record, and the run's reservation if it is one of nothing. */
const removeStatement = statement<WaitingClaim>("remove-provider-wait", (p) => {
  const runId = p.value("text", (claim) => claim.runId);
  const workspaceId = p.value("text", (claim) => claim.workspaceId);
  const recorded = `v.run_id = ${runId} and v.workspace_id = ${workspaceId}
    and ${waitsForProviderSql}`;
  return `
with deleted as (
  delete from reservations v where ${recorded} and v.held_in = '{}'
)
update reservations v set asked = null, seen_at = clock_timestamp()
where ${recorded} and v.held_in <> '{}'`;
});

/** Records that a run waits for its provider, or removes this record. */
export async function recordProviderWait(
  database: Database,
  run: WaitingClaim,
  isWaiting: boolean,
): Promise<void> {
  await database.engine.query((isWaiting ? recordStatement : removeStatement).query(run));
}

/** The statements that record waits for providers, for `runs/statements.sql`. */
export const providerWaitStatements = [recordStatement, removeStatement];
