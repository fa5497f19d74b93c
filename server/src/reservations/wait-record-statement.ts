import { type Database, type Parameters, statement } from "../base/database/index.ts";
import type { RunClaim } from "./reserve-statement.ts";

/** The claim of a run that waits for its model's provider or for memory. */
export interface WaitingClaim extends RunClaim {
  readonly workspaceId: string;
}

/**
 * SQL condition that a reservation `v` is a wait record: its run waits for its model's provider or
 * for memory, or waited when its process was lost, so no model call is in flight. Both waits have
 * the same record, which processes of earlier versions know.
 */
export const isWaitRecordSql = "(v.state = 'held' and v.asked ? 'provider')";

/**
 * Returns SQL of the common table expression `owned`: the run, if the claim is valid and its owner
 * was not declared dead. The lock on the run's row makes the statement wait for a concurrent claim,
 * after which it finds nothing: only the next owner knows whether a call is in flight.
 */
const owned = (p: Parameters<WaitingClaim>) => `owned as materialized (
  select r.id, r.workspace_id, r.agent_id from runs r
  where r.id = ${p.value("text", (claim) => claim.runId)}
    and r.workspace_id = ${p.value("text", (claim) => claim.workspaceId)}
    and r.status = 'running' and r.owner = ${p.value("text", (claim) => claim.owner)}
    and r.fence = ${p.value("int", (claim) => claim.fence)}
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
  for share
)`;

/**
 * Statement that records in the run's reservation that the run waits for its provider or for
 * memory. A run without limits gets a reservation of nothing.
 */
const recordStatement = statement<WaitingClaim>(
  "write-wait-record",
  (p) => `
with ${owned(p)}
insert into reservations as v (run_id, workspace_id, agent_id, principal, trigger_id, state, asked,
  cost_micros, plan_cost_micros)
select o.id, o.workspace_id, o.agent_id, i.principal, i.trigger_id, 'held', '{"provider": true}',
  0, 0
from owned o join run_inputs i on i.run_id = o.id and i.workspace_id = o.workspace_id
on conflict (run_id, workspace_id) do update set asked = excluded.asked,
  seen_at = clock_timestamp() where v.state = 'held'`,
);

/** Statement that removes the record, and the run's reservation if it is one of nothing. */
const removeStatement = statement<WaitingClaim>("remove-wait-record", (p) => {
  const recorded = `v.run_id = any (array(select id from owned))
    and v.workspace_id = any (array(select workspace_id from owned)) and ${isWaitRecordSql}`;
  return `
with ${owned(p)}, deleted as (
  delete from reservations v where ${recorded} and v.held_in = '{}'
)
update reservations v set asked = null, seen_at = clock_timestamp()
where ${recorded} and v.held_in <> '{}'`;
});

/**
 * Records that a run waits for its provider or for memory, or removes this record. Does nothing if
 * the claim is no longer valid, or its owner was declared dead.
 */
export async function writeWaitRecord(
  database: Database,
  run: WaitingClaim,
  isWaiting: boolean,
): Promise<void> {
  await database.engine.query((isWaiting ? recordStatement : removeStatement).query(run));
}

/** The statements of wait records, for `runs/statements.sql`. */
export const waitRecordStatements = [recordStatement, removeStatement];
