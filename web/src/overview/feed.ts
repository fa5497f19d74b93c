import type { ListedRun, WorkspaceEvent } from "@beckon/client";
import { firstLine } from "../format/index.ts";

/** The filters of the feed. */
export type FeedFilter = "all" | "failed" | "running";

/** Maximum number of lines. */
export const feedLength = 100;

/** A line of the feed. Times are Unix times in ms. */
export type FeedLine = RunLine | AgentLine;

interface RunLine {
  readonly kind: "run";
  /** Id of the run. */
  readonly key: string;
  readonly agentId: string;
  readonly status: string;
  /**
   * Time at which the run was created. For a run that is known from events only, this is the time
   * of its first event.
   */
  readonly at: number;
  /** Null if the run has not started or a limit holds it; undefined if its start is not known. */
  readonly startedAt: number | null | undefined;
  readonly endedAt: number | undefined;
  readonly error: string | undefined;
  /** First line of the input; undefined if the run is known from events only. */
  readonly input: string | undefined;
}

interface AgentLine {
  readonly kind: "agent";
  /** Id of the event. */
  readonly key: string;
  readonly agentId: string;
  readonly isPaused: boolean;
  readonly at: number;
  readonly reason: string | undefined;
}

/** Returns the line of a run. */
function lineOf(run: ListedRun): FeedLine {
  const { id, agent_id, status, created_at, started_at, finished_at, error, input } = run;
  return {
    kind: "run",
    key: id,
    agentId: agent_id,
    status,
    at: Date.parse(created_at),
    startedAt: msOf(started_at) ?? null,
    endedAt: msOf(finished_at),
    error: error?.message,
    input: firstLine(input.replace(/\s+/g, " ")) || undefined,
  };
}

const msOf = (time: string | null) => (time === null ? undefined : Date.parse(time));

const statusAfter: Readonly<Record<string, string | undefined>> = {
  "run.waiting": "waiting",
  "run.queued": "queued",
  "run.started": "running",
  "run.resumed": "running",
  "run.finished": "succeeded",
  "run.failed": "failed",
  "run.cancelled": "cancelled",
};

/** The lines of the feed, with what keeps them up to date. */
export interface Feed {
  readonly filter: FeedFilter;
  /** Unix time in ms at which the list of runs was read; 0 before the first read. */
  readonly readAt: number;
  /**
   * The newest lines, in the order in which they were added. Lines that the filter hides are kept
   * too: if their runs fail, for example, the filter can show them.
   */
  readonly lines: readonly FeedLine[];
  /**
   * The newest events. `readFeed` applies them to the list of runs that was read, because the list
   * can be older than these events.
   */
  readonly newest: readonly WorkspaceEvent[];
  /**
   * The newest events when the list of runs was requested that is being read; undefined if none is
   * being read. `readFeed` finds deleted runs with them.
   */
  readonly beforeRead?: readonly WorkspaceEvent[] | undefined;
}

export const emptyFeed: Feed = {
  filter: "all",
  readAt: 0,
  lines: [],
  newest: [],
};

/**
 * The feed keeps at most this many events, at most this many lines that the filter shows, and at
 * most this many lines that the filter hides.
 */
const maxKept = 400;

/** A list of runs that was read. */
interface FeedRead extends Pick<Feed, "filter" | "readAt"> {
  /** Newest first. */
  readonly runs: readonly ListedRun[];
  /** True if no older run matches the filter. Default: false. */
  readonly isWhole?: boolean;
}

/**
 * Returns the feed with the lines of the list of runs, updated with the newest events. Drops the
 * events of deleted runs, because they would add the lines of these runs again.
 */
export function readFeed(feed: Feed, read: FeedRead): Feed {
  const { runs, filter, readAt } = read;
  const deleted = deletedRuns(feed, read);
  const newest = feed.newest.filter(({ run_id }) => run_id === null || !deleted.has(run_id));
  const lines = addToLines(runs.map(lineOf).toReversed(), newest);
  const lists = { lines: newestOf(lines, filter), newest, beforeRead: undefined };
  return { ...feed, filter, readAt, ...lists };
}

/**
 * Returns the ids of the runs that the list lacks although they had ended, in a state that the
 * filter shows, before it was requested. A list for another filter can come from the cache, and be
 * older than the events. Runs older than the last run of the list can be on its next page.
 */
function deletedRuns(feed: Feed, { runs, filter, isWhole = false }: FeedRead): Set<string> {
  const events = feed.filter === filter ? (feed.beforeRead ?? []) : [];
  const ended = addToLines([], events).filter(
    (line) => line.kind === "run" && line.endedAt !== undefined && accepts(filter, line),
  );
  const listed = new Set(runs.map(({ id }) => id));
  const oldest = runs.at(-1)?.id;
  const isRead = (id: string) => isWhole || (oldest !== undefined && id > oldest);
  return new Set(ended.map(({ key }) => key).filter((id) => !listed.has(id) && isRead(id)));
}

/**
 * Returns the feed after the request of a list of runs has started or ended. Call it after
 * `readFeed` if both apply.
 */
export function markRead(feed: Feed, isReading: boolean): Feed {
  if (isReading === (feed.beforeRead !== undefined)) return feed;
  return { ...feed, beforeRead: isReading ? feed.newest : undefined };
}

/**
 * Returns the paused feed after a read of the list of runs. Only the first read for a filter
 * changes its lines. Later ones, for example after the tab was hidden, would replace the lines that
 * the person has paused to read.
 * @param read its `readAt` is 0 if the list comes from the cache and is being refetched
 */
export function readPausedFeed(paused: Feed, read: FeedRead): Feed {
  return paused.filter === read.filter && paused.readAt > 0 ? paused : readFeed(paused, read);
}

/** Returns the feed with new events. Events that the feed does not show are ignored. */
export function addEvents(feed: Feed, events: readonly WorkspaceEvent[]): Feed {
  const news = events.filter(isFeedEvent);
  if (news.length === 0) return feed;
  return {
    ...feed,
    lines: newestOf(addToLines(feed.lines, news), feed.filter),
    newest: [...feed.newest, ...news].slice(-maxKept),
  };
}

/**
 * Returns the feed without its newest events. After a reset of the stream they can lack the end of
 * a run, so the list of runs that is read then must not be updated with them.
 */
export function dropEvents(feed: Feed): Feed {
  return { ...feed, newest: [], beforeRead: feed.beforeRead && [] };
}

/**
 * Returns how many lines of the feed the paused feed does not show, or shows in another state; at
 * most `feedLength`.
 */
export function countMissed(feed: Feed, paused: Feed): number {
  const known = new Map(shownLines(paused).map((line) => [line.key, stateOf(line)]));
  return shownLines(feed).filter((line) => known.get(line.key) !== stateOf(line)).length;
}

const stateOf = (line: FeedLine) => (line.kind === "run" ? line.status : "agent");

/** Returns the lines that the filter shows, newest first. */
export function shownLines({ lines, filter }: Pick<Feed, "lines" | "filter">): FeedLine[] {
  return lines
    .filter((line) => accepts(filter, line))
    .toReversed()
    .toSorted((a, b) => b.at - a.at)
    .slice(0, feedLength);
}

/**
 * Returns the newest `maxKept` lines that the filter shows and the newest `maxKept` lines that it
 * hides, in the order of `lines`.
 */
function newestOf(lines: readonly FeedLine[], filter: FeedFilter): readonly FeedLine[] {
  const newest = (isShown: boolean) =>
    lines.filter((line) => accepts(filter, line) === isShown).slice(-maxKept);
  const kept = new Set([...newest(true), ...newest(false)]);
  return lines.filter((line) => kept.has(line));
}

/**
 * Returns the lines, updated with these events. A run keeps its line and its position. A run that
 * has ended no longer changes.
 */
function addToLines(
  lines: readonly FeedLine[],
  events: readonly WorkspaceEvent[],
): readonly FeedLine[] {
  const byKey = new Map(lines.map((line) => [line.key, line]));
  for (const event of events) {
    const line = event.run_id === null ? agentLine(event) : runLine(byKey.get(event.run_id), event);
    if (line !== undefined) byKey.set(line.key, line);
  }
  return [...byKey.values()];
}

/** Returns whether the feed shows the event at all. */
function isFeedEvent({ type }: WorkspaceEvent): boolean {
  return type in statusAfter || type === "agent.paused" || type === "agent.resumed";
}

function runLine(known: FeedLine | undefined, event: WorkspaceEvent): FeedLine | undefined {
  const status = statusAfter[event.type];
  if (status === undefined || event.run_id === null || event.agent_id === null) return undefined;
  if (known?.kind === "run" && known.endedAt !== undefined) return known;
  const at = Date.parse(event.time);
  const before = known?.kind === "run" ? known : undefined;
  // If the run has a line, its first event is ignored. The line comes from a list of runs that was
  // read after this event, or from another event, so it may already show a later state.
  if (before !== undefined && event.seq === 1) return before;
  const hasEnded = !["waiting", "queued", "running"].includes(status);
  const { error } = event.data as { error?: { message?: unknown } };
  return {
    kind: "run",
    key: event.run_id,
    agentId: event.agent_id,
    status,
    at: before?.at ?? at,
    startedAt: startAfter(event.type, before?.startedAt, at),
    endedAt: hasEnded ? at : undefined,
    error: typeof error?.message === "string" ? error.message : before?.error,
    input: before?.input,
  };
}

/**
 * Returns when the run started, after an event at the time `at`. A run that a limit holds starts
 * anew when it is resumed.
 */
function startAfter(type: string, before: RunLine["startedAt"], at: number): RunLine["startedAt"] {
  if (type === "run.waiting") return null;
  const starts = type === "run.started" || (type === "run.resumed" && before === null);
  return starts ? (before ?? at) : before;
}

function agentLine({ id, type, time, agent_id, data }: WorkspaceEvent): FeedLine | undefined {
  if (agent_id === null || !(type === "agent.paused" || type === "agent.resumed")) return undefined;
  return {
    kind: "agent",
    key: id,
    agentId: agent_id,
    isPaused: type === "agent.paused",
    at: Date.parse(time),
    reason: type === "agent.paused" ? (data.reason ?? undefined) : undefined,
  };
}

function accepts(filter: FeedFilter, line: FeedLine): boolean {
  return filter === "all" || (line.kind === "run" && line.status === filter);
}
