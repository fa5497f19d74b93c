import type { ListedRun, Page, WorkspaceEvent } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useEvents } from "../../live/index.ts";
import { isEnd, isNewRun } from "../live-runs.ts";
import { queryOf, type RunFilters, timeOf } from "./filters/run-filters.ts";
import { countNew, mergeHead, type RunPages } from "./head.ts";
import { runsQuery } from "./queries.ts";

/** The newest page is read at most this often, however many runs start. */
const minIntervalMs = 2_000;
/** A search in texts reads far more. */
const minTextIntervalMs = 15_000;
/** Runs that start together enter together. */
const delayMs = 200;
const pageSize = 50;
/** Below this distance from the top of the page, new rows move nothing that is read. */
const topPx = 120;

/**
 * Keeps the list up to date with runs that start. An event does not say whether its run matches the
 * filters, so it makes the list read its newest page again. At the top of the page new rows enter;
 * further down they wait.
 * @param isHeld true keeps new rows out, for example while rows are selected
 * @returns how many runs wait, and a function that shows them
 */
export function useNewRuns(filters: RunFilters, isHeld: boolean) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [waiting, setWaiting] = useState<Page<ListedRun>>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const lastRead = useRef(0);
  const { queryKey } = runsQuery(workspace, filters);

  const enter = (head: Page<ListedRun>) => {
    setWaiting(undefined);
    queryClient.setQueryData<RunPages>(queryKey, (list) => list && mergeHead(list, head));
  };
  const read = useEffectEvent(async () => {
    timer.current = undefined;
    lastRead.current = Date.now();
    const query = { ...queryOf(filters, Date.now()), limit: pageSize, view: "summary" } as const;
    // A page that cannot be read now is read at the next event.
    const head = await workspace.client.runs
      .list(query)
      .page()
      .catch(() => undefined);
    if (head === undefined) return;
    if (isAtTop() && !isHeld) enter(head);
    else setWaiting(head);
  });

  const schedule = () => {
    if (timer.current !== undefined) return;
    const intervalMs = filters.text === undefined ? minIntervalMs : minTextIntervalMs;
    const waitMs = Math.max(delayMs, lastRead.current + intervalMs - Date.now());
    timer.current = setTimeout(() => void read(), waitMs);
  };
  useEvents((events) => {
    if (events.some((event) => canChange(filters, event))) schedule();
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );

  const enterAtTop = useEffectEvent(() => {
    if (waiting !== undefined && !isHeld && isAtTop()) enter(waiting);
  });
  useEffect(() => {
    const onScroll = () => enterAtTop();
    document.addEventListener("scroll", onScroll, { passive: true });
    return () => document.removeEventListener("scroll", onScroll);
  }, []);

  const list = queryClient.getQueryData<RunPages>(queryKey);
  const count = waiting === undefined || list === undefined ? 0 : countNew(list, waiting);
  return {
    count,
    /** All of the newest page is new, so there can be more. */
    isMore: waiting?.next !== null && waiting?.data.length === count,
    show: () => {
      if (waiting !== undefined) enter(waiting);
      window.scrollTo({ top: 0 });
    },
  };
}

const isAtTop = () => window.scrollY <= topPx;

/** Returns whether the newest page can be another one after the event. */
function canChange(filters: RunFilters, event: WorkspaceEvent): boolean {
  const { agent_id, created_before, status, error, text } = filters;
  if (agent_id !== undefined && event.agent_id !== agent_id) return false;
  if (created_before !== undefined && (timeOf(created_before, Date.now()) ?? 0) < Date.now())
    return false;
  const dependsOnState = [status, error, text].some((filter) => filter !== undefined);
  return isNewRun(event) || (dependsOnState && (isEnd(event) || event.type === "run.started"));
}
