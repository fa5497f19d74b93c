import type { RunStats } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, codeOf, serverNow } from "../../data/index.ts";

/** Runs of one agent. */
export interface Activity {
  readonly runs: number;
  readonly failed: number;
  /** Runs that succeeded or failed. */
  readonly ended: number;
  /** Runs in each hour, oldest first. */
  readonly hourly: readonly number[];
}

interface Counts {
  runs: number;
  failed: number;
  ended: number;
  readonly hourly: number[];
}

const hourMs = 3_600_000;

/** Returns the activity of each agent that had runs, by its id. */
export function activityOf(stats: RunStats): ReadonlyMap<string, Activity> {
  const start = firstBucketOf(stats);
  const hours = Math.max(1, Math.ceil((Date.parse(stats.created_before) - start) / hourMs));
  const byAgent = new Map<string, Counts>();
  for (const { agent_id, bucket, runs } of stats.groups) {
    if (agent_id === null || bucket === null) continue;
    const known = byAgent.get(agent_id);
    const hourly = known?.hourly ?? new Array<number>(hours).fill(0);
    const activity = known ?? { runs: 0, failed: 0, ended: 0, hourly };
    const count = Object.values(runs).reduce((sum, each) => sum + each, 0);
    const hour = Math.min(
      hours - 1,
      Math.max(0, Math.floor((Date.parse(bucket) - start) / hourMs)),
    );
    activity.runs += count;
    activity.failed += runs.failed;
    activity.ended += runs.succeeded + runs.failed;
    hourly[hour] = (hourly[hour] ?? 0) + count;
    byAgent.set(agent_id, activity);
  }
  return byAgent;
}

/**
 * Returns when the first bucket of the range begins. Buckets are full hours of the workspace's time
 * zone, so the first one can begin before the range.
 */
function firstBucketOf({ created_after, groups }: RunStats): number {
  const start = Date.parse(created_after);
  const bucket = groups.find((group) => group.bucket !== null)?.bucket;
  if (bucket == null) return start;
  const sinceFullHour = (((start - Date.parse(bucket)) % hourMs) + hourMs) % hourMs;
  return start - sinceFullHour;
}

/** Statistics of the runs of the last 24 hours, or of the last hour. */
interface ReadActivity {
  readonly hours: 24 | 1;
  readonly stats: RunStats;
}

const select = ({ hours, stats }: ReadActivity) => ({ hours, byAgent: activityOf(stats) });

/**
 * The runs of the last 24 hours, by agent. The API rejects this query if it would have to count too
 * many runs or agents. In that case, only the runs of the last hour are read. Refetched every
 * minute.
 */
export const activityQuery = ({
  id,
  client,
  can,
}: Pick<CurrentWorkspace, "id" | "client" | "can">) =>
  queryOptions({
    queryKey: [id, "runs", "activity"],
    queryFn: async ({ signal }): Promise<ReadActivity> => {
      const query = { bucket: "hour", group_by: "agent" } as const;
      try {
        return { hours: 24, stats: await client.runs.getStats(query, { signal }) };
      } catch (thrown) {
        if (codeOf(thrown) !== "bad_request") throw thrown;
        const created_after = new Date(serverNow() - hourMs).toISOString();
        const stats = await client.runs.getStats({ ...query, created_after }, { signal });
        return { hours: 1, stats };
      }
    },
    select,
    enabled: can("runs:read"),
    refetchInterval: 60_000,
  });
