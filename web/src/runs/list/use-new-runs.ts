import type { ListedRun, Page } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import {
  pageSize,
  updateRows,
  useInvalidation,
  useWorkspace,
  whenFetched,
} from "../../data/index.ts";
import { useAfterReset, useEvents } from "../../live/index.ts";
import { isAtTop, useEnterAtTop } from "../../ui/index.ts";
import { canChange } from "./can-change.ts";
import type { RunFilters } from "./filters/run-filters.ts";
import { countNew, mergeHead, type RunPages, startOf } from "./head.ts";
import { runsQuery } from "./queries.ts";
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
 *
 * When the list is opened again or its data is invalidated, all rows can have changed. At the top,
 * the list then begins anew with its newest page. Otherwise its rows are updated in place.
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
  /** True if rows can have changed without an event since they were read. */
  const isChanged = useRef(false);
  /** Number of updates of the rows so far. Only the last one continues. */
  const updates = useRef(0);
  const { queryKey, readPage } = runsQuery(workspace, filters);
  const query = () => queryClient.getQueryCache().find<RunPages>({ queryKey });

  const enter = async (head: Page<ListedRun>, isNew = false) => {
    setWaiting(undefined);
    // A request for the next page remembers the rows that the list had when the request began. Its
    // response would replace the list by those rows and the next page, so the rows that
    // `setQueryData` inserts would be lost. The request is therefore cancelled; the list sends it
    // again when the person scrolls to the end. A read of the whole list is not cancelled, because
    // nothing would send it again. Instead, the newest page is read again after it.
    const state = query()?.state;
    // A sign-out has removed the list.
    if (state === undefined) return;
    if (state.fetchMeta?.fetchMore !== undefined)
      await queryClient.cancelQueries({ queryKey, exact: true });
    else if (state.fetchStatus === "fetching") {
      await whenFetched(queryClient, queryKey);
      schedule();
      return;
    }
    // The list has no rows yet if its first read has failed.
    queryClient.setQueryData<RunPages>(queryKey, (list) =>
      list === undefined || isNew ? startOf(head) : mergeHead(list, head),
    );
  };
  // Rows can have been selected while the page was being read, so `isHeld` is read afterwards.
  const accept = useEffectEvent(async (head: Page<ListedRun>, hasChanged: boolean) => {
    if (isAtTop() && !isHeld) await enter(head, hasChanged && filters.text === undefined);
    else {
      setWaiting(head);
      if (!hasChanged) return;
      const update = ++updates.current;
      await updateRows(queryClient, queryKey, head, {
        // All runs that a static search in texts has found have ended.
        readPage: filters.text === undefined ? readPage : undefined,
        isCurrent: () => update === updates.current,
      });
    }
  });
  const read = useEffectEvent(async () => {
    const requestedAt = performance.now();
    const hasChanged = isChanged.current;
    isChanged.current = false;
    try {
      const head = await readPage({ limit: pageSize });
      // The position of the page is that of another screen now. The list is read when it is opened.
      if (reads.isStopped()) return;
      // Ignores a response that arrives after the response to a later request, because it lacks the
      // newest runs.
      if (requestedAt >= shownRead.current) {
        shownRead.current = requestedAt;
        return await accept(head, hasChanged);
      }
      if (hasChanged) readAllAgain();
    } catch (thrown) {
      if (reads.isStopped()) return;
      const error = thrown as Error;
      // Says that the rows are old. They are read again after the next event, or when the stream is
      // live again: queries that have failed are then refetched (see `LiveProvider`).
      query()?.setState({ status: "error", error, fetchMeta: null });
      isChanged.current = true;
    }
  });

  const schedule = () =>
    reads.request(
      filters.text === undefined ? minIntervalMs : minTextIntervalMs,
      () => void read(),
    );
  const readAllAgain = () => {
    isChanged.current = true;
    schedule();
  };
  // Before `useInvalidation`, whose effect requests the first read.
  useEffect(() => {
    reads.start();
    document.addEventListener("visibilitychange", reads.show);
    return () => {
      document.removeEventListener("visibilitychange", reads.show);
      reads.stop();
      updates.current++;
    };
  }, [reads]);
  useInvalidation(queryKey, readAllAgain);
  useEvents((events) => {
    if (events.some((event) => canChange(filters, event))) schedule();
  });
  // A reset (see `useResets`) invalidates the list. A page that was requested before the reset can
  // be from before a restore of the database. So a page that waits is discarded, and the responses
  // to requests in progress will be ignored; those can be the requests of the invalidation.
  useAfterReset(() => {
    setWaiting(undefined);
    shownRead.current = performance.now();
    updates.current++;
    readAllAgain();
  });

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
