import type {
  BeckonClient,
  GetRunStatsQuery,
  ListedRun,
  RunStats,
  UsageReport,
} from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, codeOf, firstRows, serverNow } from "../data/index.ts";
import { runsKey } from "../runs/index.ts";
import { type FeedFilter, feedLength } from "./feed.ts";

type Source = Pick<CurrentWorkspace, "id" | "client">;

/** Statistics of the last 5 or 60 minutes. */
export interface Recent {
  /** Length of the range: 60 minutes, or 5 if an hour has too many runs for the API. */
  readonly minutes: number;
  readonly stats: RunStats;
}

/** The possible ranges in minutes, the preferred one first. */
const ranges = [60, 5] as const;

/**
 * Time after which statistics are refetched even without events, because their time ranges move on.
 */
export const maxAgeMs = 60_000;

/**
 * Returns when statistics were last read, as Unix time in ms. A time in the future means that the
 * browser's clock was set back since. It counts as old, so that the statistics do not wait until
 * the clock reaches it.
 */
export function readAt(read: Reads): number {
  const at = Math.max(read.dataUpdatedAt, read.errorUpdatedAt);
  return at > Date.now() ? 0 : at;
}

type Reads = Readonly<Record<"dataUpdatedAt" | "errorUpdatedAt", number>>;

/**
 * Options of the queries for statistics. They are not refetched when the network is back, because
 * use-statistics.ts refetches them one at a time. But when the tab is shown after a longer time,
 * all are refetched at once, so that no old figures stay until it is their turn.
 */
const inTurns = {
  staleTime: 10_000,
  refetchOnWindowFocus: ({ state }: { readonly state: Reads }) =>
    readAt(state) <= Date.now() - maxAgeMs ? "always" : false,
  refetchOnReconnect: false,
} as const;

/** Prefix of the query keys of the overview's statistics, to invalidate all of them at once. */
export const allStatsKey = (workspaceId: string) => [...runsKey(workspaceId), "stats"];

const statsKey = (workspaceId: string, name: string) => [...allStatsKey(workspaceId), name];

/** Runs of the last hour by minute. */
export const recentQuery = ({ id, client }: Source) =>
  queryOptions({
    queryKey: statsKey(id, "recent"),
    queryFn: ({ signal }) => readRecent(client, { bucket: "minute" }, signal),
    ...inTurns,
  });

/** Runs of the last hour by agent. */
export const byAgentQuery = ({ id, client }: Source) =>
  queryOptions({
    queryKey: statsKey(id, "by agent"),
    queryFn: ({ signal }) => readRecent(client, { group_by: "agent" }, signal),
    ...inTurns,
  });

/**
 * What was used today. Every role can read it. Run statistics would not have the calls of draft
 * runs, of deleted runs, of runs in progress and of runs that were created yesterday. The report
 * has no hours: for these, the server would read every call of the day.
 * @param day today's date in `timeZone` of the workspace. It makes a new day begin without the
 *   figures of the day before.
 */
export const todayQuery = (workspace: UsageSource, day: string) =>
  queryOptions({
    queryKey: [...statsKey(workspace.id, "today"), day],
    queryFn: ({ signal }) => readToday(workspace, day, signal),
    ...inTurns,
  });

type UsageSource = Source & Pick<CurrentWorkspace, "timeZone" | "storedTimeZone">;

/** What was used today, and what it cost. */
export type TodaysCost = Pick<
  UsageReport["totals"],
  "cost_micros" | "unknown_cost_entries" | "estimated_entries"
>;

const nothingUsed: TodaysCost = { cost_micros: 0, unknown_cost_entries: 0, estimated_entries: 0 };

async function readToday(
  { client, timeZone, storedTimeZone }: UsageSource,
  day: string,
  signal: AbortSignal,
): Promise<{ readonly totals: TodaysCost }> {
  if (timeZone === storedTimeZone) return client.usage.get({ from: day, to: day }, { signal });
  // The browser does not know the time zone, so `day` can be the day before or after today. Without
  // `to`, the report ends with the server's today.
  const from = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  const report = await client.usage.get({ from, group_by: "day" }, { signal });
  const today = report.rows.find((row) => row.day === report.to);
  return { ...report, totals: today ?? nothingUsed };
}

async function readRecent(
  { runs }: Pick<BeckonClient, "runs">,
  query: GetRunStatsQuery,
  signal: AbortSignal,
): Promise<Recent> {
  const now = serverNow();
  const read = async (minutes: number): Promise<Recent> => {
    const created_after = new Date(now - minutes * 60_000).toISOString();
    return { minutes, stats: await runs.getStats({ ...query, created_after }, { signal }) };
  };
  const [hour, short] = ranges;
  return read(hour).catch((thrown: unknown) => {
    // The API rejects statistics of more than 100,000 runs, and statistics that take longer than 3
    // seconds. So a shorter range is read.
    if (codeOf(thrown) === "bad_request") return read(short);
    throw thrown;
  });
}

const queuePage = 200;

/** The queued runs. */
export interface Queue {
  readonly count: number;
  /** True if there are more queued runs than were counted. */
  readonly isMore: boolean;
  /**
   * Time at which the oldest counted run was created, as Unix time in ms; undefined if no run is
   * queued.
   */
  readonly oldest: number | undefined;
  /** When the browser requested the queue, as Unix time in ms. */
  readonly requestedAt: number;
}

/** The queue of the workspace. `use-queue.ts` refetches it. */
export const queueQuery = ({ id, client }: Source) =>
  queryOptions({
    queryKey: [...runsKey(id), "queue"],
    queryFn: async ({ signal }): Promise<Queue> => {
      const requestedAt = Date.now();
      const query = { status: "queued", view: "summary", limit: queuePage } as const;
      const { data, next } = await client.runs.list(query, { signal }).page();
      const oldest = data.at(-1)?.created_at;
      return {
        count: data.length,
        isMore: next !== null,
        oldest: oldest === undefined ? undefined : Date.parse(oldest),
        requestedAt,
      };
    },
    meta: { live: true },
  });

/**
 * Returns whether the queue must be refetched. An empty queue is also refetched once a minute, in
 * case the event of a queued run did not arrive.
 * @param queuedAt when the last event arrived that a run was queued, as Unix time in ms
 */
export function isQueueDue(queue: Queue | undefined, queuedAt: number): boolean {
  if (queue?.count !== 0) return true;
  const ageMs = Date.now() - queue.requestedAt;
  // The age is negative if the browser's clock was set back.
  return queuedAt >= queue.requestedAt || ageMs < 0 || ageMs >= maxAgeMs;
}

/** Maximum number of providers, and of ceilings, that are read. `uncheckedText` shows that. */
export const maxChecked = 2_000;

/**
 * The first `maxChecked` providers with their models. `error` says why the models of one could not
 * be listed.
 */
export const providerHealthQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [id, "models", "health"],
    queryFn: ({ signal }) => firstRows(client.models.list({ limit: 200 }, { signal }), maxChecked),
    // Each query makes the server send requests to the providers, so it is repeated rarely.
    staleTime: 60_000,
    refetchInterval: 300_000,
    enabled: can("providers:read"),
  });

/** Prefix of the keys of all queries of the feed. */
export const feedKey = (workspaceId: string) => [...runsKey(workspaceId), "feed"] as const;

/**
 * The first `maxChecked` ceilings (daily spending limits), each with the amount spent today. The
 * API cannot list only those that are nearly spent. The first one is the workspace's own. Every
 * role can read them, so the query is always enabled. They are also refetched when an event says
 * that one is nearly spent.
 */
export const nearLimitsQuery = ({ id, client }: Source) =>
  queryOptions({
    queryKey: [id, "limits", "near"],
    queryFn: ({ signal }) => firstRows(client.limits.list({ limit: 200 }, { signal }), maxChecked),
    refetchInterval: 60_000,
  });

/**
 * Maximum number of pages that are read for the feed. A page of failed runs can have none, because
 * the server searches 10,000 runs for it.
 */
const maxFeedPages = 5;

/** The runs of the feed. */
export interface FeedRuns {
  /** The newest runs that match the filter, newest first; at most `feedLength`. */
  readonly runs: readonly ListedRun[];
  /** Cursor of the runs that were not searched; null if all runs were searched. */
  readonly next: string | null;
}

/** The newest runs, for the feed. */
export const feedQuery = ({ id, client }: Source, filter: FeedFilter) =>
  queryOptions({
    queryKey: [...feedKey(id), filter],
    queryFn: async ({ signal }): Promise<FeedRuns> => {
      const status = filter === "all" ? {} : { status: filter };
      const query = { ...status, view: "summary", limit: feedLength } as const;
      const first = await client.runs.list(query, { signal }).page();
      const runs = [...first.data];
      let { next } = first;
      for (let pages = 1; next !== null && pages < maxFeedPages; pages++) {
        if (runs.length >= feedLength) break;
        const page = await client.runs.list({ ...query, after: next }, { signal }).page();
        runs.push(...page.data);
        next = page.next;
      }
      return { runs: runs.slice(0, feedLength), next };
    },
    // If the data was read just before the screen is rendered, it is not refetched.
    staleTime: 2_000,
    meta: { live: true },
  });
