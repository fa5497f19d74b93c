import type { ListedRun, Page } from "@beckon/client";
import { hashKey, type Query, useIsFetching, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useAfterReset, useEvents } from "../../live/index.ts";
import { isAtTop, useEnterAtTop } from "../../ui/index.ts";
import { canChange } from "./can-change.ts";
import type { RunFilters } from "./filters/run-filters.ts";
import { countNew, mergeHead, pageSize, type RunPages } from "./head.ts";
import { readRuns, runsQuery } from "./queries.ts";
import { createReadSchedule } from "./read-schedule.ts";

/** Minimum time between two reads of the newest page. */
const minIntervalMs = 2_000;
/** Minimum time between two reads for a search in texts, which costs the server more. */
const minTextIntervalMs = 15_000;

/**
 * Updates the list when a run starts. If a filter depends on the state of runs, updates it also
 * when a state changes. An event does not say whether its run matches the filters, so the list
 * refetches its newest page. If the screen is scrolled to the top, new rows are inserted; otherwise
 * they wait until `show` is called or the person scrolls to the top.
 * @param isHeld true makes new rows wait, for example while rows are selected
 * @returns the rows of the newest page if it waits, how many are new, and `show`, which inserts it
 */
export function useNewRuns(filters: RunFilters, isHeld: boolean) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [waiting, setWaiting] = useState<Page<ListedRun>>();
  const [reads] = useState(createReadSchedule);
  /** When the newest page that is shown, or waits to be shown, was requested. */
  const shownRead = useRef(0);
  /** True if rows were inserted while the list was being refetched. */
  const isOverlapped = useRef(false);
  const { queryKey } = runsQuery(workspace, filters);
  const isFetching = useIsFetching({ queryKey, exact: true }) > 0;

  const enter = async (head: Page<ListedRun>) => {
    setWaiting(undefined);
    // A request for the next page remembers the rows that the list had when the request began. Its
    // response would replace the list by those rows and the next page, so the rows that
    // `setQueryData` inserts would be lost. The request is therefore cancelled; the list sends it
    // again when the person scrolls to the end. A refetch of the list is not cancelled, because
    // nothing would send it again. Instead, the newest page is read again after the refetch.
    const state = queryClient.getQueryState(queryKey);
    const isNextPage = state?.fetchMeta?.fetchMore !== undefined;
    if (isNextPage) await queryClient.cancelQueries({ queryKey, exact: true });
    else if (state?.fetchStatus === "fetching") isOverlapped.current = true;
    queryClient.setQueryData<RunPages>(queryKey, (list) => list && mergeHead(list, head));
  };
  // Rows can have been selected while the page was being read, so `isHeld` is read afterwards.
  const accept = useEffectEvent((head: Page<ListedRun>) => {
    if (isAtTop() && !isHeld) void enter(head);
    else setWaiting(head);
  });
  const read = useEffectEvent(async () => {
    const requestedAt = performance.now();
    // If the page cannot be read, it is refetched after the next event.
    const head = await readRuns(workspace, filters, { limit: pageSize }).catch(() => undefined);
    // Ignores a response that arrives after the response to a later request, because it lacks the
    // newest runs.
    if (head === undefined || requestedAt < shownRead.current) return;
    shownRead.current = requestedAt;
    accept(head);
  });

  const schedule = () =>
    reads.request(
      filters.text === undefined ? minIntervalMs : minTextIntervalMs,
      () => void read(),
    );
  // A search that is not refetched (see `runsQuery`) reads its newest page when the list is opened
  // again, and when its data is invalidated, for example after a deletion.
  const readIfStatic = useEffectEvent((query: Query | undefined) => {
    if (query?.isStatic()) schedule();
  });
  const hash = hashKey(queryKey);
  useEffect(() => {
    const cache = queryClient.getQueryCache();
    readIfStatic(cache.get(hash));
    return cache.subscribe(({ type, query, ...event }) => {
      if (type !== "updated" || query.queryHash !== hash) return;
      if ("action" in event && event.action.type === "invalidate") readIfStatic(query);
    });
  }, [queryClient, hash]);
  useEvents((events) => {
    if (events.some((event) => canChange(filters, event))) schedule();
  });
  // A reset (see `useResets`) refetches the list. A newest page that was requested before the reset
  // can be from before a restore of the database. So a page that waits is discarded, and the
  // response to a request in progress will be ignored.
  useAfterReset(() => {
    setWaiting(undefined);
    shownRead.current = performance.now();
  });
  useEffect(() => {
    document.addEventListener("visibilitychange", reads.show);
    return () => {
      document.removeEventListener("visibilitychange", reads.show);
      reads.stop();
    };
  }, [reads]);

  // A refetch stores the newest page as it was when the refetch began. Rows that were inserted in
  // the meantime are lost, so the newest page is read again.
  const readOverlapped = useEffectEvent(() => {
    if (isOverlapped.current) schedule();
    isOverlapped.current = false;
  });
  useEffect(() => {
    if (!isFetching) readOverlapped();
  }, [isFetching]);

  const enterWaiting = waiting === undefined ? undefined : () => void enter(waiting);
  useEnterAtTop(isHeld ? undefined : enterWaiting);

  const list = queryClient.getQueryData<RunPages>(queryKey);
  const count = waiting === undefined || list === undefined ? 0 : countNew(list, waiting);
  return {
    waiting: waiting?.data ?? [],
    count,
    /** True if all rows of the newest page are new, so that there can be further new runs. */
    isMore: waiting?.next !== null && waiting?.data.length === count,
    show: () => {
      enterWaiting?.();
      window.scrollTo({ top: 0 });
    },
  };
}
