import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { type ClaimedRun, takePicked } from "./claim-statement.ts";
import { engineVersion } from "./run.ts";

/**
 * Running runs whose owner is on record as dead, never by an expired lease alone: that is for whoever records the death. `left` says how
 * many more processes they may be given to, as a condition on the number.
 */
const picked = (left: "> 1" | "= 1" | "< 1") => `
with picked as (
  select r.id from runs r join run_inputs i on i.run_id = r.id
  where r.status = 'running' and r.owner in (select p.id from processes p where p.died_at is not null) and i.engine_version <= ${engineVersion}
    and (select (v.config -> 'limits' ->> 'max_attempts')::int from agent_versions v
      where v.agent_id = r.agent_id and v.workspace_id = r.workspace_id and v.version = i.agent_version) - r.attempt ${left}
  order by r.id limit $2 for no key update of r skip locked
)`;

/** Takes runs over from dead processes; each take-over costs the run an attempt. */
export function claimAbandoned(database: Database, owner: string, limit: number): Promise<ClaimedRun[]> {
  return takePicked(database.engine, { name: "claim-abandoned", picked: picked("> 1"), attempts: 1, owner, limit, more: [] });
}

/**
 * Takes one run over for its last attempt. The caller has no other such run: if this is the one that kills its process, it must not take
 * innocent neighbours with it on their last attempt.
 */
export function claimLastAttempt(database: Database, owner: string): Promise<ClaimedRun[]> {
  return takePicked(database.engine, { name: "claim-last-attempt", picked: picked("= 1"), attempts: 1, owner, limit: 1, more: [] });
}

/** Ends what has no attempt left. The event's id is that of the run with another prefix, since no run ends twice. */
const endText = `${picked("< 1")}, ended as (
  update runs r set status = 'failed', finished_at = now(), last_seq = r.last_seq + 1
  from picked p where r.id = p.id
  returning r.id, r.workspace_id, r.last_seq
), spent as (
  select n.id, n.workspace_id, n.last_seq, sums.* from ended n, lateral (
    select coalesce(sum((e.data -> 'usage' ->> 'input_tokens')::bigint), 0) as input_tokens,
      coalesce(sum((e.data -> 'usage' ->> 'output_tokens')::bigint), 0) as output_tokens,
      coalesce(sum((e.data -> 'usage' ->> 'cached_input_tokens')::bigint), 0) as cached_input_tokens
    from events e where e.run_id = n.id and e.type in ('run.step', 'run.step_lost')
  ) as sums
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select id, last_seq, workspace_id, 'evt_' || substr(id, 5), 'run.failed', ${eventVersion}, jsonb_build_object(
    'error', jsonb_build_object('code', 'interrupted', 'message', $1::text),
    'usage', jsonb_build_object('input_tokens', input_tokens, 'output_tokens', output_tokens, 'cached_input_tokens', cached_input_tokens,
      'estimated', true),
    'cost_micros', null)
  from spent
)
insert into run_results (run_id, workspace_id, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated)
select id, workspace_id, 'interrupted', $1, input_tokens, output_tokens, cached_input_tokens, true from spent`;

/** Ends runs that have lost as many processes as they may: a run that kills whoever executes it must not go round for ever. */
export async function endExhausted(database: Database, limit: number): Promise<void> {
  const message = "Every process that executed this run was lost before the run ended.";
  await database.engine.query({ name: "end-exhausted", text: endText, values: [message, limit] });
}
