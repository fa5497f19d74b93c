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
  readonly startedAt: number | undefined;
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
export function lineOf(run: ListedRun): FeedLine {
  const { id, agent_id, status, created_at, started_at, finished_at, error, input } = run;
  return {
    kind: "run",
    key: id,
    agentId: agent_id,
    status,
    at: Date.parse(created_at),
    startedAt: msOf(started_at),
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

/**
 * Returns the lines, updated with these events and filtered, newest first. A run keeps its line and
 * its position. A run that has ended no longer changes.
 */
export function addToFeed(
  lines: readonly FeedLine[],
  events: readonly WorkspaceEvent[],
  filter: FeedFilter,
): readonly FeedLine[] {
  const byKey = new Map(lines.map((line) => [line.key, line]));
  for (const event of events) {
    const line = event.run_id === null ? agentLine(event) : runLine(byKey.get(event.run_id), event);
    if (line !== undefined) byKey.set(line.key, line);
  }
  return [...byKey.values()]
    .filter((line) => accepts(filter, line))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, feedLength);
}

/** Returns whether the feed shows the event at all. */
export function isFeedEvent({ type }: WorkspaceEvent): boolean {
  return type in statusAfter || type === "agent.paused" || type === "agent.resumed";
}

function runLine(known: FeedLine | undefined, event: WorkspaceEvent): FeedLine | undefined {
  const status = statusAfter[event.type];
  if (status === undefined || event.run_id === null || event.agent_id === null) return undefined;
  if (known?.kind === "run" && known.endedAt !== undefined) return known;
  const at = Date.parse(event.time);
  const before = known?.kind === "run" ? known : undefined;
  // The line can already show a later state of the run than this event, because the list of runs
  // may have been read after the event.
  if (status === "waiting" && before !== undefined) return before;
  if (status === "queued" && before !== undefined)
    return before.status === "waiting" ? { ...before, status } : before;
  const hasEnded = !["waiting", "queued", "running"].includes(status);
  const { error } = event.data as { error?: { message?: unknown } };
  return {
    kind: "run",
    key: event.run_id,
    agentId: event.agent_id,
    status,
    at: before?.at ?? at,
    startedAt: before?.startedAt ?? (event.type === "run.started" ? at : undefined),
    endedAt: hasEnded ? at : undefined,
    error: typeof error?.message === "string" ? error.message : before?.error,
    input: before?.input,
  };
}

function agentLine({ id, type, time, agent_id, data }: WorkspaceEvent): FeedLine | undefined {
  if (agent_id === null || !(type === "agent.paused" || type === "agent.resumed")) return undefined;
  const reason = (data as { reason?: unknown }).reason;
  return {
    kind: "agent",
    key: id,
    agentId: agent_id,
    isPaused: type === "agent.paused",
    at: Date.parse(time),
    reason: typeof reason === "string" ? reason : undefined,
  };
}

function accepts(filter: FeedFilter, line: FeedLine): boolean {
  return filter === "all" || (line.kind === "run" && line.status === filter);
}
