import type { RunStatus } from "@beckon/contract";
import type { TestBeckon } from "./beckon.ts";
import { eventually } from "./eventually.ts";

type States = { readonly [Status in RunStatus]?: number };

/** Reads the number of the agent's runs in each state. States without runs are left out. */
export async function statesOf({ db }: TestBeckon, agentId: string): Promise<States> {
  const { rows } = await db.database.engine.query<{ status: string; runs: number }>(
    "select status, count(*)::int as runs from runs where agent_id = $1 group by status",
    [agentId],
  );
  return Object.fromEntries(rows.map(({ status, runs }) => [status, runs]));
}

/** Waits until `count` runs of the agent have succeeded and it has no other runs. */
export async function allSucceeded(
  beckon: TestBeckon,
  agentId: string,
  count: number,
): Promise<void> {
  let states: States = {};
  await eventually(`${count} runs that succeeded, and no other`, async () => {
    states = await statesOf(beckon, agentId);
    return (states.succeeded === count && Object.keys(states).length === 1) || undefined;
  }).catch((thrown: Error) => {
    throw new Error(`${thrown.message}, but ${JSON.stringify(states)}`);
  });
}

/**
 * Returns the maximum number of runs of `floodingId` that started while a run of `agentIds` was
 * queued.
 */
export async function maxStartedBefore(
  { db }: TestBeckon,
  agentIds: readonly string[],
  floodingId: string,
): Promise<number> {
  const { rows } = await db.database.engine.query<{ max: number }>(
    `select max((
        select count(*) from runs f
          where f.agent_id = $2 and f.started_at > r.created_at and f.started_at < r.started_at
      ))::int as max
      from runs r where r.agent_id = any ($1)`,
    [agentIds, floodingId],
  );
  return rows[0]?.max ?? Number.NaN;
}

/** Returns the types of a run's events, in order. */
export async function eventTypesOf({ db }: TestBeckon, runId: string): Promise<string[]> {
  const { rows } = await db.database.engine.query<{ type: string }>(
    "select type from events where run_id = $1 order by seq",
    [runId],
  );
  return rows.map(({ type }) => type);
}

/**
 * Samples how many runs of an agent are `running` at once. Returns a function that stops and
 * returns the maximum.
 */
export function watchRunning(beckon: TestBeckon, agentId: string): () => Promise<number> {
  let max = 0;
  let watching = true;
  const watched = (async () => {
    while (watching) max = Math.max(max, (await statesOf(beckon, agentId)).running ?? 0);
  })();
  return async () => {
    watching = false;
    await watched;
    return max;
  };
}
