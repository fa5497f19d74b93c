import type { Database, Parameters, Statement } from "../../base/database/index.ts";
import { engineVersion } from "../../base/engine-version.ts";
import type { RunRef } from "../run.ts";
import type { LastAttempt } from "../subscribing/index.ts";
import { type Claimant, claim, claimStatement, exceptOf, type Taken } from "./claim-statement.ts";

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
const pickedBy = (condition: string, limit: string) => `picked as (
  select r.id, least(r.attempt + 1, ${maxAttempts}) as attempt, extract(epoch from now() - d.died_at) * 1000 as waited_ms
  ${source} and ${condition}
  order by r.id limit ${limit} for no key update of r skip locked
)`;
const picked = (condition: string) => (p: Parameters<Claimant>, limit: string) =>
  `${abandoned}, ${pickedBy(`${condition} and r.workspace_id <> all (${exceptOf(p)})`, limit)}`;

/** Picks runs that are only to be ended, which takes no memory to speak of. */
const pickedToEnd = (condition: string) => (_: Parameters<Claimant>, limit: string) =>
  `${abandoned}, ${pickedBy(condition, limit)}`;

/** Half of the suspects that died together, of those among whom the oldest one is. */
const halved = (p: Parameters<Claimant>, limit: string) => `${abandoned}, half as (
  select d.id as owner, greatest(1, (d.suspects + 1) / 2) as size ${source} and ${suspected}
    and r.workspace_id <> all (${exceptOf(p)}) order by r.id limit 1
), ${pickedBy(`${suspected} and r.owner = (select owner from half)`, `least(${limit}, (select size from half))`)}`;

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

const failover = (name: string, picked: (p: Parameters<Claimant>, limit: string) => string) =>
  claimStatement(name, { picked, wanted: "picked", failover: true });

const abandonedRuns = failover("claim-abandoned", picked(`${maxAttempts} - r.attempt > 1`));
// Only once the suspects are counted: a run that is left behind was not alone.
const cancelledRuns = failover(
  "claim-cancelled",
  pickedToEnd(
    `d.suspects is not null and r.cancel_requested_at is not null and (r.cancel_requested_at > d.died_at or ${maxAttempts} > r.attempt)`,
  ),
);
const suspects = failover("claim-suspects", halved);
const lastAttempts = failover("claim-last-attempts", picked(`${maxAttempts} - r.attempt = 1`));

/** For review. */
export const failoverStatements = [abandonedRuns, cancelledRuns, suspects, lastAttempts];

/** Takes runs over from dead processes; each failover costs the run an attempt. */
export function claimAbandoned(database: Database, claimant: Claimant): Promise<Taken> {
  return claim(database.engine, abandonedRuns, claimant);
}

/**
 * Takes over runs that are to be cancelled, only to end them, whatever else is executed. A run
 * whose process died over its cancellation is left to the other claims: reading its journal may be
 * what kills.
 */
export function claimCancelled(database: Database, claimant: Claimant): Promise<Taken> {
  return claim(database.engine, cancelledRuns, claimant);
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
  { owner, eventIds, except = [] }: Claimant,
  executing: readonly LastAttempt[],
): Promise<Taken> {
  const claimant = {
    owner,
    except,
    eventIds: eventIds.slice(0, Math.max(0, maxTogether - executing.length)),
  };
  const take = async (statement: Statement<Claimant>, lastAttempt: LastAttempt): Promise<Taken> => {
    const taken = await claim(database.engine, statement, claimant);
    return { ...taken, runs: taken.runs.map((run) => ({ ...run, lastAttempt })) };
  };
  if (executing.includes("repeated") || claimant.eventIds.length === 0)
    return { runs: [], contended: false };
  const repeated = executing.length === 0 ? await take(suspects, "repeated") : undefined;
  if (repeated !== undefined && repeated.runs.length > 0) return repeated;
  return take(lastAttempts, "first");
}

/**
 * Runs that have no attempt left and were alone on their last one, or had one only. A run that kills the process that
 * executes it must not be given to processes for ever.
 */
export async function findExhausted(database: Database, limit: number): Promise<ExhaustedRun[]> {
  const { rows } = await database.engine.query<ExhaustedRow>({
    name: "find-exhausted",
    text: `${abandoned} select r.id, r.workspace_id, r.owner, r.fence, r.last_seq
      from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
      where r.id = any (array(select id from abandoned)) and r.status = 'running'
        and d.died_at is not null and i.engine_version <= ${engineVersion}
        and ${maxAttempts} <= r.attempt and (r.attempt = 1 or d.suspects = 1)
      order by r.id limit $1`,
    values: [limit],
  });
  return rows.map((row) => ({
    runId: row.id,
    workspaceId: row.workspace_id,
    owner: row.owner,
    fence: row.fence,
    lastSeq: row.last_seq,
  }));
}

/** A run that ends because no process can have it any more, with the claim of its last one. */
export interface ExhaustedRun extends RunRef {
  readonly owner: string;
  readonly fence: number;
  readonly lastSeq: number;
}

interface ExhaustedRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly owner: string;
  readonly fence: number;
  readonly last_seq: number;
}
