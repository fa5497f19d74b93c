import { type Database, statement } from "../../base/database/index.ts";
import { insertEvents } from "../../events/index.ts";
import { holdsRunsSql, pausesAgentSql, waiterTimeoutSeconds } from "../../reservations/index.ts";
import { addEvents } from "../journal/index.ts";
import { changeInBatches, type EventIds, maxRuns } from "./end-statement.ts";

/**
 * In a workspace with limits, held runs of an agent are queued only until the agent has this many
 * queued runs. If all were queued at once, they could spend the limit again, and the rest would be
 * claimed only to be held again until the next reset.
 */
const maxQueuedOfLimited = 20;

/**
 * The same while a run waits for what others have reserved of a limit of the workspace or the
 * agent: held runs then join those that wait, without becoming most of them.
 */
const maxQueuedOfContended = 1;

/**
 * Returns SQL of the minimum time between two releases of a run. A run is held again if its
 * deadline passes while it waits for what others have reserved, or if its call is too large for
 * what is left of a limit that still allows smaller calls. Its journal would grow quickly if it
 * were released at once, and by thousands of events a day if it were released each minute. So the
 * interval grows by a minute with each claim, which the fence counts.
 */
const minReleaseInterval = (run: string) =>
  `make_interval(mins => least(greatest(${run}.fence - 1, 1), 10))`;

/** Condition for a budget `b` to hold runs, as in `reachedLimit` of `start-statement.ts`. */
const holdsRuns = `now() < b.ends and b.metric in ('cost', 'tokens') and ${holdsRunsSql}`;

/**
 * Statement that queues held runs, the oldest ones first, if their agent is not paused and no limit
 * is a reason to hold them. Runs that a limit holds are queued even if their agent was deleted,
 * because accepted runs continue. A deletion does not end a pause: runs that it holds stay held
 * until the agent is restored and resumed. The statement locks the agents' rows against a pause, so
 * that no run is released after the response to a pause: without the lock, the snapshot of the
 * statement could be older than the pause. The recursive part reads one row for each agent that has
 * held runs.
 */
export const releaseStatement = statement<EventIds>("release-held", (p) => {
  const eventIds = p.value("text[]", (input) => input.eventIds);
  return `
with recursive holding (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'waiting'
    order by workspace_id, agent_id limit 1)
  union all
  select following.* from holding h, lateral (
    select workspace_id, agent_id from runs
    where status = 'waiting' and (workspace_id, agent_id) > (h.workspace_id, h.agent_id)
    order by workspace_id, agent_id limit 1
  ) as following
), active as materialized (
  select a.id, a.workspace_id from holding h
  join agents a on a.id = h.agent_id and a.workspace_id = h.workspace_id
  where a.paused_at is null
  for share of a skip locked
), free as (
  select a.id, a.workspace_id,
    case when exists (select from budgets b where b.workspace_id = a.workspace_id)
      then greatest(0, case when exists (select from budgets b
        where b.workspace_id = a.workspace_id and b.scope_id in (a.workspace_id, a.id)
          and b.waiter_seen_at > now() - interval '${waiterTimeoutSeconds} seconds')
        then ${maxQueuedOfContended} else ${maxQueuedOfLimited} end - (select count(*) from (
        select from runs q
        where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id
        limit ${maxQueuedOfLimited}
      ) as queued)) else ${maxRuns} end as capacity
  from active a
  where not exists (select from budgets b where b.workspace_id = a.workspace_id
      and b.scope_id in (a.workspace_id, a.id) and ${holdsRuns})
    and not exists (select from budgets b where b.workspace_id = a.workspace_id
      and b.scope_id = a.id and ${pausesAgentSql})
), oldest as (
  select r.id from free f, lateral (
    select r.id from runs r join run_inputs i on i.run_id = r.id and i.workspace_id = r.workspace_id
    where r.status = 'waiting' and r.workspace_id = f.workspace_id and r.agent_id = f.id
      -- A later time is from before the clock was set back.
      and coalesce(r.released_at not between now() - ${minReleaseInterval("r")} and now(), true)
      and not exists (select from budgets b where b.workspace_id = r.workspace_id
        and b.scope_id = i.trigger_id and ${holdsRuns})
    order by r.id limit f.capacity
  ) as r
  order by r.id limit ${maxRuns}
), picked as (
  select r.id, r.workspace_id from runs r
  where r.id in (select id from oldest) and r.status = 'waiting'
  order by r.id for no key update skip locked
), numbered as (
  select *, row_number() over (order by id) as number from picked
), released as (
  update runs r set status = 'queued', released_at = now(), ${addEvents("1")}
  from numbered n where r.id = n.id and r.workspace_id = n.workspace_id
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, n.number
), queued_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    (${eventIds})[number] as id, 'run.queued' as type,
    -- A run that a process began to execute was held before it called a model.
    case when fence > 0 then '{"calls_reported": true}' else '{}' end::jsonb as data
  from released
), ${insertEvents("queued_events")}
select count(*)::int as released from released`;
});

/** Returns whether any run is held. */
async function areRunsHeld(database: Database): Promise<boolean> {
  const { rows } = await database.engine.query<{ held: boolean }>({
    name: "are-runs-held",
    text: "select exists (select from runs where status = 'waiting') as held",
    values: [],
  });
  return rows[0]?.held === true;
}

/**
 * Queues the held runs whose agents are no longer paused, if no limit is a reason to hold them any
 * more. While runs are held, the worker calls this function repeatedly: no message is sent when the
 * period of a limit ends, and a run can be written as held after its agent was resumed, because the
 * start statement's snapshot may be older.
 * @returns the number of queued runs; undefined if no run was held
 */
export async function releaseHeld(database: Database): Promise<number | undefined> {
  if (!(await areRunsHeld(database))) return undefined;
  return changeInBatches(database, releaseStatement, "released");
}
