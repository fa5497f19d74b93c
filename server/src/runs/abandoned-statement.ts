import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { type Claimant, type LastAttempt, type Taken, takePicked } from "./claim-statement.ts";
import { engineVersion } from "./run.ts";

/**
 * Running runs whose owner is on record as dead, never by an expired lease alone: that is for
 * whoever records the death. From the dead to their runs, not the other way: those of the living
 * are many, and this is asked every second.
 */
const abandoned = `
with abandoned as (
  select r.id from processes p, lateral (select id from runs where status = 'running' and owner = p.id offset 0) as r where p.died_at is not null
)`;

/** `max_attempts` of run `r` with its inputs `i`. */
const maxAttempts = `(select (v.config -> 'limits' ->> 'max_attempts')::int from agent_versions v
  where v.agent_id = r.agent_id and v.workspace_id = r.workspace_id and v.version = i.agent_version)`;

/**
 * Whether run `r` of the dead process `d` was on its last attempt in company: it is not proven
 * guilty, and gets another last attempt. Not a run of a single attempt: whoever sets that wants it
 * given to one process only.
 */
const suspected = `${maxAttempts} <= r.attempt and r.attempt > 1 and d.suspects <> 1`;

/**
 * From run `r` with its inputs `i` and its dead owner `d`, of abandoned ones that this code can
 * execute.
 */
const source = `
  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= ${engineVersion}`;

/** Picks those for which `condition` holds, oldest first. */
const pickedBy = (condition: string, limit = "$2") => `picked as (
  select r.id, least(r.attempt + 1, ${maxAttempts}) as attempt, extract(epoch from now() - d.died_at) * 1000 as waited_ms
  ${source} and ${condition}
  order by r.id limit ${limit} for no key update of r skip locked
)`;
const picked = (condition: string) => `${abandoned}, ${pickedBy(condition)}`;

/** Half of the suspects that died together, of those among whom the oldest one is. */
const halved = `${abandoned}, half as (
  select d.id as owner, greatest(1, (d.suspects + 1) / 2) as size ${source} and ${suspected} order by r.id limit 1
), ${pickedBy(`${suspected} and r.owner = (select owner from half)`, "least($2::bigint, (select size from half))")}`;

/**
 * Counts, once for each dead process, the runs on their last attempt that it had. A statement of
 * its own, after the one that recorded the death: an older snapshot would miss a claim that the
 * process had just made.
 * @returns whether dead processes have left any runs.
 */
export async function countSuspects(database: Database): Promise<boolean> {
  const { rows } = await database.engine.query<{ left: boolean }>({
    name: "count-suspects",
    text: `${abandoned}, counted as (
        update processes p set suspects = (
          select count(*) from runs r join run_inputs i on i.run_id = r.id
          where r.status = 'running' and r.owner = p.id and r.attempt > 1 and r.attempt >= ${maxAttempts}
        ) where p.died_at is not null and p.suspects is null
      ) select exists (select from abandoned) as left`,
    values: [],
  });
  return rows[0]?.left === true;
}

/** Takes runs over from dead processes; each failover costs the run an attempt. */
export function claimAbandoned(database: Database, claim: Claimant): Promise<Taken> {
  const text = picked(`${maxAttempts} - r.attempt > 1`);
  return takePicked(database.engine, { name: "claim-abandoned", picked: text, wanted: "picked", failover: true, claim, more: [] });
}

/**
 * Takes over runs that are to be cancelled, only to end them, whatever else is executed. A run
 * whose process died over its cancellation is left to the other claims: reading its journal may be
 * what kills.
 */
export function claimCancelled(database: Database, claim: Claimant): Promise<Taken> {
  // Only once the suspects are counted: who is left behind was not alone.
  const text = picked(
    `d.suspects is not null and r.cancel_requested_at is not null and (r.cancel_requested_at > d.died_at or ${maxAttempts} > r.attempt)`,
  );
  return takePicked(database.engine, { name: "claim-cancelled", picked: text, wanted: "picked", failover: true, claim, more: [] });
}

/**
 * Runs on their last attempt that a process executes at once, at most: one that kills is found
 * among them in seven deaths.
 */
export const maxTogether = 64;

/**
 * Takes runs over for their last attempt, beside those that the claimant executes already. Runs
 * whose process died with G of them are taken at most half of G at a time, and executed without
 * others on their last attempt: the next death incriminates only them.
 */
export async function claimLastAttempts(
  database: Database,
  { owner, eventIds }: Claimant,
  executing: readonly LastAttempt[],
): Promise<Taken> {
  const claim = { owner, eventIds: eventIds.slice(0, Math.max(0, maxTogether - executing.length)) };
  const take = async (name: string, picked: string, lastAttempt: LastAttempt): Promise<Taken> => {
    const taken = await takePicked(database.engine, { name, picked, wanted: "picked", failover: true, claim, more: [] });
    return { ...taken, runs: taken.runs.map((run) => ({ ...run, lastAttempt })) };
  };
  if (executing.includes("repeated") || claim.eventIds.length === 0) return { runs: [], contended: false };
  const suspects = executing.length === 0 ? await take("claim-suspects", halved, "repeated") : undefined;
  if (suspects !== undefined && suspects.runs.length > 0) return suspects;
  return take("claim-last-attempts", picked(`${maxAttempts} - r.attempt = 1`), "first");
}

/**
 * Ends what has no attempt left, as the engine would: calls still open are closed as unknown, or the model call that was probably in flight is
 * put on record. Nothing of the run is loaded or executed for that: its mere journal may be what its processes died of.
 *
 * The ids of the events are made of the run's, since no run ends twice: that of the end with another prefix, the others with their number in
 * place of its last letters.
 */
const endText = `${picked(`${maxAttempts} <= r.attempt and (r.attempt = 1 or d.suspects = 1)`)}, written as (
  select e.run_id, e.seq, e.type, coalesce(convert_from(f.content, 'UTF8')::jsonb, e.data) as data
  from picked p join events e on e.run_id = p.id
    left join artifacts f on e.data ? 'artifact_id' and f.id = e.data ->> 'artifact_id' and f.run_id = e.run_id
), open as (
  select c.run_id, c.seq, c.data from written c where c.type = 'run.tool_call' and not exists (
    select from written o where o.run_id = c.run_id and o.type = 'run.tool_result' and o.data ->> 'call_id' = c.data ->> 'call_id')
), added as (
  select run_id, row_number() over (partition by run_id order by seq)::int as n, 'run.tool_result' as type, jsonb_build_object(
    'step', data -> 'step', 'call_id', data -> 'call_id', 'tool', data -> 'tool', 'outcome', 'unknown', 'result', $3::text, 'duration_ms', 0) as data
  from open
  union all
  select p.id, 1, 'run.step_lost', jsonb_build_object('step', w.steps + 1, 'model', v.config ->> 'model', 'reason', 'process_lost', 'usage',
    jsonb_build_object('input_tokens', ceil((w.characters + length(run_input(i.prompt_prefix, i.payload))) / 4.0), 'output_tokens', 0,
      'cached_input_tokens', 0, 'estimated', true))
  from picked p join run_inputs i on i.run_id = p.id join runs r on r.id = p.id
    join agent_versions v on v.agent_id = r.agent_id and v.version = i.agent_version,
    lateral (select count(*) filter (where type = 'run.step') as steps, coalesce(sum(length(data::text)), 0) as characters
      from written where run_id = p.id) as w
  where p.id not in (select run_id from open) and (w.steps = 0 or exists (
    select from written o where o.run_id = p.id and o.type = 'run.tool_result' and (o.data ->> 'step')::int = w.steps))
), ended as (
  update runs r set status = 'failed', finished_at = now(), last_seq = r.last_seq + 1 + (select count(*)::int from added a where a.run_id = r.id),
    last_transaction = greatest(r.last_transaction, current_transaction())
  from picked p where r.id = p.id
  returning r.id, r.workspace_id, r.last_seq, r.last_transaction
), spent as (
  select n.id, n.workspace_id, n.last_seq, n.last_transaction, sums.* from ended n, lateral (
    select coalesce(sum((e.data -> 'usage' ->> 'input_tokens')::bigint), 0) as input_tokens,
      coalesce(sum((e.data -> 'usage' ->> 'output_tokens')::bigint), 0) as output_tokens,
      coalesce(sum((e.data -> 'usage' ->> 'cached_input_tokens')::bigint), 0) as cached_input_tokens
    from (select run_id, type, data from written union all select run_id, type, data from added) as e
    where e.run_id = n.id and e.type in ('run.step', 'run.step_lost')
  ) as sums
), journal as (
  insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
  select id, last_seq, workspace_id, last_transaction, 'evt_' || substr(id, 5), 'run.failed', ${eventVersion}, jsonb_build_object(
    'error', jsonb_build_object('code', 'interrupted', 'message', $1::text),
    'usage', jsonb_build_object('input_tokens', input_tokens, 'output_tokens', output_tokens, 'cached_input_tokens', cached_input_tokens,
      'estimated', true),
    'cost_micros', null)
  from spent
  union all
  select n.id, n.seq, n.workspace_id, n.last_transaction, 'evt_' || substr(n.id, 5, 22) || lpad(to_hex(n.seq), 4, '0'), n.type, ${eventVersion}, n.data
  from (select e.id, e.workspace_id, e.last_transaction, a.type, a.data, e.last_seq - 1 - count(*) over (partition by e.id)::int + a.n as seq
    from ended e join added a on a.run_id = e.id) as n
)
insert into run_results (run_id, workspace_id, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated)
select id, workspace_id, 'interrupted', $1, input_tokens, output_tokens, cached_input_tokens, true from spent`;

/**
 * Ends runs that have no attempt left and were alone on their last one, or had one only: a run that
 * kills whoever executes it must not go round for ever.
 */
export async function endExhausted(database: Database, limit: number): Promise<void> {
  const message = "Every process that executed this run was lost before the run ended.";
  const unknown = "The run was ended before the tool answered. The call may or may not have taken effect.";
  await database.engine.query({ name: "end-exhausted", text: endText, values: [message, limit, unknown] });
}
