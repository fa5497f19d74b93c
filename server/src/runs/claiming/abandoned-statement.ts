import type { Database, Parameters, Statement } from "../../base/database/index.ts";
import { engineVersion } from "../../base/engine-version.ts";
import { configOf } from "../journal/index.ts";
import type { LastAttempt, RunRef } from "../run.ts";
import {
  type ClaimRequest,
  type ClaimResult,
  claim,
  claimStatement,
  exceptOf,
} from "./claim-statement.ts";

/**
 * Selects the abandoned runs: those that are running although the process that owns them was
 * declared dead. An expired lease alone does not make them abandoned. The lateral subquery with
 * `offset 0` makes the planner start from the dead processes, of which there are few. Otherwise
 * this query, which runs every second, might scan all running runs, most of which belong to living
 * processes.
 */
const abandoned = `
with abandoned as (
  select r.id from processes p, lateral (
    select id from runs where status = 'running' and owner = p.id offset 0
  ) as r where p.died_at is not null
)`;

/** Expression for the limit `max_attempts` of a run `r`. `i` is the run's row in `run_inputs`. */
const maxAttempts = `(${configOf("r", "i")} -> 'limits' ->> 'max_attempts')::int`;

/**
 * Condition for a run `r` to be a suspect: its process `d` exited during the run's last attempt,
 * while the process also executed other runs on their last attempts. Any of these runs may have
 * killed the process, so each gets its last attempt again. A run with `max_attempts` 1 is never a
 * suspect, since it must not be executed twice.
 */
const suspected = `${maxAttempts} <= r.attempt and r.attempt > 1 and d.suspects <> 1`;

/**
 * Condition for a run `r` to have no attempt left: its process `d` exited during the run's last
 * attempt, and the run is not a suspect. Attempts are limited because a run may kill every process
 * that executes it. Until the suspects of `d` are counted, `d.suspects` is null, and a run that can
 * be a suspect meets neither condition.
 */
const exhausted = `${maxAttempts} <= r.attempt and (r.attempt = 1 or d.suspects = 1)`;

/**
 * Selects the abandoned runs `r` that this engine version can execute, with their inputs `i` and
 * the dead processes `d` that own them.
 */
const source = `
  from runs r join run_inputs i on i.run_id = r.id join processes d on d.id = r.owner
  where r.id = any (array(select id from abandoned)) and r.status = 'running'
    and d.died_at is not null and i.engine_version <= ${engineVersion}`;

/**
 * Returns the common table expression `picked`, which selects and locks the abandoned runs for
 * which `condition` holds, oldest first. A run has waited since the recorded exit of its process,
 * or since the end of the process's lease if that was earlier: after a crash of the whole
 * installation, exits are recorded only at the next startup. If both are in the future, because the
 * database's clock was set back, the run has not waited.
 */
const pickedBy = (condition: string, limit: string) => `picked as (
  select r.id, least(r.attempt + 1, ${maxAttempts}) as attempt,
    greatest(0, extract(epoch from now() - least(d.died_at, d.lease_until)) * 1000) as waited_ms
  ${source} and ${condition}
  order by r.id limit ${limit} for no key update of r skip locked
)`;
const picked = (condition: string) => (p: Parameters<ClaimRequest>, limit: string) =>
  `${abandoned}, ${pickedBy(`${condition} and r.workspace_id <> all (${exceptOf(p)})`, limit)}`;

/**
 * Picks runs that are taken over only to be ended, including runs of workspaces whose runs wait for
 * memory: ending a run takes little memory. The function `picked` above excludes these workspaces.
 */
const pickedToEnd = (condition: string) => (_: Parameters<ClaimRequest>, limit: string) =>
  `${abandoned}, ${pickedBy(condition, limit)}`;

/**
 * Picks half, rounded up, of the suspects (see `suspected`) of one dead process: the process that
 * owned the oldest suspect. `claimLastAttempts` explains why half.
 */
const halved = (p: Parameters<ClaimRequest>, limit: string) => `${abandoned}, half as (
  select d.id as owner, greatest(1, (d.suspects + 1) / 2) as size ${source} and ${suspected}
    and r.workspace_id <> all (${exceptOf(p)}) order by r.id limit 1
), ${pickedBy(`${suspected} and r.owner = (select owner from half)`, `least(${limit}, (select size from half))`)}`;

/**
 * Counts, once for each dead process, the runs on their last attempt that it owned, and stores the
 * number in `processes.suspects`. This must not be part of the statement that declares a process
 * dead: the snapshot of that statement could miss a claim that the process had just committed.
 * @returns whether dead processes still own runs.
 */
export async function countSuspects(database: Database): Promise<boolean> {
  const { rows } = await database.engine.query<{ left: boolean }>({
    name: "count-suspects",
    text: `${abandoned}, counted as (
        update processes p set suspects = (
          select count(*) from runs r join run_inputs i on i.run_id = r.id
          where r.status = 'running' and r.owner = p.id and r.attempt > 1
            and r.attempt >= ${maxAttempts}
        ) where p.died_at is not null and p.suspects is null
      ) select exists (select from abandoned) as left`,
    values: [],
  });
  return rows[0]?.left === true;
}

const failover = (name: string, picked: (p: Parameters<ClaimRequest>, limit: string) => string) =>
  claimStatement(name, { picked, wanted: "picked", failover: true });

const abandonedRuns = failover("claim-abandoned", picked(`${maxAttempts} - r.attempt > 1`));
// Because of the condition `d.suspects is not null`, a run is taken over only after the suspects of
// its process are counted. A run that was taken over earlier would be missing from the count.
const cancelledRuns = failover(
  "claim-cancelled",
  pickedToEnd(
    `d.suspects is not null and r.cancel_requested_at is not null
      and (r.cancel_requested_at > d.died_at or ${maxAttempts} > r.attempt)`,
  ),
);
const suspects = failover("claim-suspects", halved);
const lastAttempts = failover("claim-last-attempts", picked(`${maxAttempts} - r.attempt = 1`));

/** All statements that take over runs from dead processes, for `runs/statements.sql`. */
export const failoverStatements = [abandonedRuns, cancelledRuns, suspects, lastAttempts];

/**
 * Takes over runs from dead processes, except runs for which this would be the last attempt. Taking
 * over a run counts as an attempt.
 */
export function claimAbandoned(database: Database, request: ClaimRequest): Promise<ClaimResult> {
  return claim(database.engine, abandonedRuns, request);
}

/**
 * Takes over runs whose cancellation was requested, only to end them. A run on its last attempt is
 * excluded if its process exited after the request: reading the run's journal in order to end the
 * run may be what killed the process, and would then kill this one too. Such a run is left to
 * `claimLastAttempts` and `findExhausted`.
 */
export function claimCancelled(database: Database, request: ClaimRequest): Promise<ClaimResult> {
  return claim(database.engine, cancelledRuns, request);
}

/**
 * Maximum number of runs on their last attempt that a process executes at once. If one of 64 runs
 * kills its process, halving the suspects after each exit finds it after seven exits.
 */
export const maxTogether = 64;

/**
 * Takes over runs of dead processes for their last attempt: runs that have not begun it yet, and
 * suspects (see `suspected`), which get it again. The suspect that kills processes is found by
 * bisection: a process takes over at most half of the suspects of one dead process, rounded up, and
 * executes no other runs on their last attempt meanwhile. If this process exits too, the run that
 * kills processes is in that half.
 * @param executing one element for each run on its last attempt that this process already executes:
 *   `repeated` if the run is a suspect that gets its last attempt again, otherwise `first`.
 */
export async function claimLastAttempts(
  database: Database,
  { owner, eventIds, except = [] }: ClaimRequest,
  executing: readonly LastAttempt[],
): Promise<ClaimResult> {
  const request = {
    owner,
    except,
    eventIds: eventIds.slice(0, Math.max(0, maxTogether - executing.length)),
  };
  const take = async (
    statement: Statement<ClaimRequest>,
    lastAttempt: LastAttempt,
  ): Promise<ClaimResult> => {
    const taken = await claim(database.engine, statement, request);
    return { ...taken, runs: taken.runs.map((run) => ({ ...run, lastAttempt })) };
  };
  if (executing.includes("repeated") || request.eventIds.length === 0)
    return { runs: [], contended: false };
  const repeated = executing.length === 0 ? await take(suspects, "repeated") : undefined;
  if (repeated !== undefined && repeated.runs.length > 0) return repeated;
  return take(lastAttempts, "first");
}

/**
 * Returns the abandoned runs that have no attempt left (see `exhausted`): up to `limit` runs, those
 * with the lowest ids after the id `after`.
 */
export async function findExhausted(
  database: Database,
  { after, limit }: { after: string; limit: number },
): Promise<ExhaustedRun[]> {
  const { rows } = await database.engine.query<ExhaustedRow>({
    name: "find-exhausted",
    text: `${abandoned} select r.id, r.workspace_id, r.owner, r.fence, r.last_seq ${source}
      and ${exhausted} and r.id > $2 order by r.id limit $1`,
    values: [limit, after],
  });
  return rows.map(toExhausted);
}

const toExhausted = (row: ExhaustedRow): ExhaustedRun => ({
  runId: row.id,
  workspaceId: row.workspace_id,
  owner: row.owner,
  fence: row.fence,
  lastSeq: row.last_seq,
});

/** Returns running runs of dead processes, whether they have an attempt left or not. */
export async function findAbandoned(database: Database, limit: number): Promise<ExhaustedRun[]> {
  const { rows } = await database.engine.query<ExhaustedRow>({
    name: "find-abandoned",
    text: `${abandoned} select r.id, r.workspace_id, r.owner, r.fence, r.last_seq
      from runs r where r.id = any (array(select id from abandoned limit $1))
        and r.status = 'running' order by r.id`,
    values: [limit],
  });
  return rows.map(toExhausted);
}

/** A run of a dead process, with the claim of its last owner. */
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
