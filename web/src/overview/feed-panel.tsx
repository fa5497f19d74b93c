import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { memo, useDeferredValue, useEffect, useMemo, useState } from "react";
import { useWorkspace } from "../data/index.ts";
import { formatCount, shortenId } from "../format/index.ts";
import { useAfterReset, useEvents } from "../live/index.ts";
import { type AgentName, useAgentNames } from "../runs/index.ts";
import {
  Button,
  EmptyState,
  LinkButton,
  List,
  Panel,
  Problem,
  ScrollRegion,
  Select,
  Skeleton,
  useChangeSearch,
} from "../ui/index.ts";
import { emptyFeedWords } from "./empty-feed.ts";
import {
  addEvents,
  countMissed,
  dropEvents,
  emptyFeed,
  type Feed,
  type FeedFilter,
  type FeedLine,
  feedLength,
  markRead,
  readFeed,
  readPausedFeed,
  shownLines,
} from "./feed.ts";
import { FeedRow } from "./feed-row.tsx";
import { feedKey, feedQuery } from "./queries.ts";

const filters = [
  { value: "all", label: "All" },
  { value: "failed", label: "Failed" },
  { value: "running", label: "Running" },
] as const;

/**
 * Number of lines that are rendered at first, as many as are visible. The others follow after the
 * first paint.
 */
const firstLines = 20;

/** The newest events of the workspace, newest first. */
export const FeedPanel = memo(function FeedPanel() {
  const workspace = useWorkspace();
  const changeSearch = useChangeSearch();
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const filter: FeedFilter = filters.find(({ value }) => value === search.feed)?.value ?? "all";
  const agents = useAgentNames();
  const runs = useQuery(feedQuery(workspace, filter));
  const [feed, setFeed] = useState(emptyFeed);
  /** The feed at the moment when it was paused; undefined if it is not paused. */
  const [pausedAt, setPausedAt] = useState<Feed>();
  const readAt = runs.dataUpdatedAt;
  const isReading = runs.isFetching;
  const next = runs.data?.next ?? null;
  if (feed.filter !== filter || feed.readAt !== readAt) {
    const listed = runs.data?.runs ?? [];
    const isWhole = next === null && listed.length < feedLength;
    const read = { runs: listed, filter, readAt, isWhole };
    setFeed((before) => readFeed(before, read));
    if (pausedAt !== undefined)
      setPausedAt(readPausedFeed(pausedAt, { ...read, readAt: isReading ? 0 : readAt }));
  }
  if (isReading !== (feed.beforeRead !== undefined))
    setFeed((before) => markRead(before, isReading));
  useEvents((batch) => setFeed((before) => addEvents(before, batch)));
  useAfterReset(() => setFeed(dropEvents));
  const cache = useQueryClient();
  // The cached lists of runs lack events that arrive while no feed is shown. So they are marked as
  // stale when the feed is closed.
  useEffect(() => {
    const queryKey = feedKey(workspace.id);
    return () => void cache.invalidateQueries({ queryKey, refetchType: "none" });
  }, [cache, workspace.id]);
  const shown = pausedAt ?? feed;
  const lines = useMemo(() => shownLines(shown), [shown]);
  const missed = useMemo(
    () => (pausedAt === undefined ? 0 : countMissed(feed, pausedAt)),
    [feed, pausedAt],
  );
  const choose = (feed: string) =>
    changeSearch({ feed: feed === "all" ? undefined : feed }, { keepsScroll: true });
  return (
    <Panel
      title="Live"
      padding="none"
      actions={
        <>
          {missed === 0 ? null : (
            <span className="text-dense text-ink-2">
              {`${formatCount(missed)}${missed < feedLength ? "" : "+"} new`}
            </span>
          )}
          <span className="w-28">
            <Select
              aria-label="Show"
              options={filters}
              value={filter}
              onChange={(event) => choose(event.target.value)}
            />
          </span>
          <Button
            icon={pausedAt === undefined ? Pause : Play}
            onClick={() => setPausedAt(pausedAt === undefined ? feed : undefined)}
          >
            {pausedAt === undefined ? "Pause" : "Continue"}
          </Button>
        </>
      }
    >
      {runs.isError && lines.length === 0 ? (
        <div className="p-4">
          <Problem error={runs.error} title="Runs could not be loaded." onRetry={runs.refetch} />
        </div>
      ) : runs.isPending ? (
        <div className="flex flex-col px-4 py-2">
          <Skeleton width={80} />
          <Skeleton width={60} />
          <Skeleton width={80} />
        </div>
      ) : lines.length === 0 ? (
        <EmptyState
          action={
            filter === "all" ? undefined : next === null ? (
              <Button onClick={() => choose("all")}>Clear filters</Button>
            ) : (
              <LinkButton href={`/w/${workspace.id}/runs?status=${filter}`}>
                Search older runs
              </LinkButton>
            )
          }
        >
          {emptyFeedWords(filter, next, Date.now(), workspace.timeZone)}
        </EmptyState>
      ) : (
        <ScrollRegion label="What happens now" variant="tall">
          <FeedLines lines={lines} agents={agents} />
        </ScrollRegion>
      )}
    </Panel>
  );
});

interface FeedLinesProps {
  readonly lines: readonly FeedLine[];
  readonly agents: ReadonlyMap<string, AgentName>;
}

function FeedLines({ lines, agents }: FeedLinesProps) {
  const shown = useDeferredValue(lines, lines.slice(0, firstLines));
  return (
    <List label="Newest runs" isLong>
      {shown.map((line) => (
        <FeedRow
          key={line.key}
          line={line}
          agentName={agents.get(line.agentId)?.name ?? shortenId(line.agentId)}
        />
      ))}
    </List>
  );
}
