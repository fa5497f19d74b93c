import { isFinalEvent, type WorkspaceEvent } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { startTransition, useEffect, useEffectEvent, useRef, useState } from "react";
import { useWorkspace } from "../data/index.ts";
import { toZoned } from "../format/index.ts";
import { useEvents } from "../live/index.ts";
import { isNewRun } from "../runs/index.ts";
import { useTextAtNow } from "../ui/index.ts";
import { byAgentQuery, maxAgeMs, readAt, recentQuery, todayQuery } from "./queries.ts";
import { addToTally, type Tally } from "./tally.ts";

/**
 * Time between two queries of statistics. Statistics scan many rows, so their queries are sent one
 * at a time.
 */
const turnMs = 15_000;
/** Minimum time between two updates of the figures while events arrive. */
const minTallyMs = 1_000;

/**
 * Returns the statistics of the workspace, and a tally of the events since they were read. While
 * runs start or end, one query is refetched every 15 seconds: the one with the oldest result.
 */
export function useStatistics() {
  const workspace = useWorkspace();
  const [tally, setTally] = useState<Tally>([]);
  // Time of the last start or end of a run. It begins with the current time, so that each of the
  // statistics is refetched once: the tally lacks events from before the stream was connected.
  const changedAt = useRef(Date.now());
  const recent = useQuery(recentQuery(workspace));
  const day = useTextAtNow((nowMs) => toZoned(nowMs, workspace.timeZone).slice(0, 10));
  const today = useQuery(todayQuery(workspace, day));
  const byAgent = useQuery(byAgentQuery(workspace));
  const uncounted = useRef<WorkspaceEvent[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const count = () => {
    timer.current = undefined;
    const events = uncounted.current;
    uncounted.current = [];
    startTransition(() => setTally((before) => addToTally(before, events)));
  };
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useEvents((events) => {
    uncounted.current.push(...events);
    timer.current ??= setTimeout(count, minTallyMs);
    if (events.some((event) => isNewRun(event) || isFinalEvent(event)))
      changedAt.current = Date.now();
  });
  const takeTurn = useEffectEvent(() => {
    if (document.hidden) return;
    const oldest = [recent, today, byAgent].reduce((a, b) => (readAt(b) < readAt(a) ? b : a));
    const isDue = readAt(oldest) <= Math.max(changedAt.current, Date.now() - maxAgeMs);
    if (isDue && !oldest.isFetching) void oldest.refetch();
  });
  useEffect(() => {
    const timer = setInterval(() => takeTurn(), turnMs);
    return () => clearInterval(timer);
  }, []);
  return { recent, today, tally };
}
