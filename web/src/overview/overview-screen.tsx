import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { clientOf, useWorkspace } from "../data/index.ts";
import { useEvents, useResets } from "../live/index.ts";
import { agentNamesQuery, isNewRun } from "../runs/index.ts";
import { PageHeader, Panel } from "../ui/index.ts";
import { AttentionPanel } from "./attention-panel.tsx";
import { FeedPanel } from "./feed-panel.tsx";
import { FiguresRow } from "./figures-row.tsx";
import { FirstRun } from "./first-run.tsx";
import {
  allStatsKey,
  byAgentQuery,
  feedKey,
  feedQuery,
  queueQuery,
  recentQuery,
} from "./queries.ts";
import { useStatistics } from "./use-statistics.ts";

/** The overview: the state of the workspace, and what happens in it now. */
export function OverviewScreen() {
  const workspace = useWorkspace();
  const newest = useQuery(feedQuery(workspace, "all"));
  // The hook is called even while the workspace has no runs, so that it also counts the first run.
  const statistics = useStatistics();
  const [hasRun, setHasRun] = useState(false);
  const isFresh = newest.data?.runs.length === 0 && !hasRun;
  const cache = useQueryClient();
  useEvents((events) => {
    if (!events.some(isNewRun)) return;
    setHasRun(true);
    if (!isFresh) return;
    // From now on the feed is shown. Its cached list lacks these events, so the list is refetched.
    // The statistics can lack them too: if they were read in the second of an event, the figures
    // assume that they contain it. So they are refetched as well.
    void cache.invalidateQueries({ queryKey: feedKey(workspace.id) });
    void cache.invalidateQueries({ queryKey: allStatsKey(workspace.id) });
  });
  return (
    <div className="flex min-w-0 flex-col">
      <title>Overview · Beckon</title>
      <PageHeader title="Overview" />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        {isFresh ? <Fresh /> : <Busy statistics={statistics} />}
      </div>
    </div>
  );
}

function Fresh() {
  return (
    <>
      <Panel>
        {/* Reserves the height of the content while it loads, so that the panel below does not move
            afterwards. */}
        <div className="grid min-h-72 grid-cols-[minmax(0,1fr)] items-center">
          <FirstRun />
        </div>
      </Panel>
      <AttentionPanel />
    </>
  );
}

function Busy({ statistics }: { readonly statistics: ReturnType<typeof useStatistics> }) {
  return (
    <>
      <FiguresRow statistics={statistics} />
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
        <AttentionPanel />
        {/* The key changes when the live stream was reset. The new feed then begins without the
            events that the old one has collected. */}
        <FeedPanel key={useResets()} />
      </div>
    </>
  );
}

/** Starts to read the data of the screen before the screen is rendered. */
export function prefetch(
  queryClient: QueryClient,
  { workspaceId: id }: { readonly workspaceId: string },
): void {
  // The permissions of the person are not known yet, so all data is requested. The server rejects
  // what the person cannot read.
  const workspace = { id, client: clientOf(id), can: () => true };
  void queryClient.prefetchQuery(feedQuery(workspace, "all"));
  void queryClient.prefetchQuery(agentNamesQuery(workspace));
  void queryClient.prefetchQuery(recentQuery(workspace));
  void queryClient.prefetchQuery(queueQuery(workspace));
  void queryClient.prefetchQuery(byAgentQuery(workspace));
}
