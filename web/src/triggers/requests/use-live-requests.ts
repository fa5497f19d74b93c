import type { ReceivedRequest } from "@beckon/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { refetchFirstPage, useWorkspace } from "../../data/index.ts";
import { isAtTop, useEnterAtTop } from "../../ui/index.ts";
import { triggerQuery } from "../queries.ts";
import {
  lastRequestQuery,
  newestRequestsQuery,
  type RequestFilters,
  requestsKey,
  requestsQuery,
  type TriggerIds,
} from "./queries.ts";

/**
 * Maximum px by which the page can be scrolled down while new rows are inserted at once. The list
 * is below two panels, so a person who has scrolled less does not read its rows yet.
 */
const topPx = 400;

/**
 * Keeps a list of received requests up to date. New rows are added at once. If the person has
 * scrolled down, they are added after scrolling up or by `show`.
 * @param shown the rows that are shown
 */
export function useLiveRequests(
  trigger: TriggerIds,
  filters: RequestFilters,
  shown: readonly ReceivedRequest[],
) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const newest = useQuery(newestRequestsQuery(workspace, trigger, filters));
  const list = requestsQuery(workspace, trigger, filters).queryKey;
  const shownIds = new Set(shown.map(({ id }) => id));
  const ids = (newest.data ?? []).map(({ id }) => id);
  // The ids are joined to strings, which React compares by value. Arrays are new on each render, so
  // effects that depend on them would run after each render.
  const received = ids.join(" ");
  const news = ids.filter((id) => !shownIds.has(id)).join(" ");
  const hasNews = news !== "";
  const enter = () => refetchFirstPage(queryClient, { queryKey: list, exact: true });
  const onReceived = useEffectEvent(() => {
    // When Beckon captures a request as a sample, it stops listening for one. So the trigger with
    // its `listening_until` is refetched, even if `news` is empty: the list can already contain the
    // captured request.
    const { agent_id, id } = trigger;
    void queryClient.invalidateQueries({
      queryKey: triggerQuery(workspace, agent_id, id).queryKey,
      exact: true,
    });
    // Requests that start no run cause no event, so nothing else refetches the time of the last
    // request that the list of triggers shows.
    void queryClient.invalidateQueries({
      queryKey: lastRequestQuery(workspace, trigger).queryKey,
    });
  });
  useEffect(() => {
    if (received !== "") onReceived();
  }, [received]);
  const onNews = useEffectEvent(() => {
    if (isAtTop(topPx)) enter();
  });
  useEffect(() => {
    if (news !== "") onNews();
  }, [news]);
  useEnterAtTop(hasNews ? enter : undefined, topPx);
  return {
    hasNews: hasNews && shown.length > 0,
    show: () => {
      enter();
      window.scrollTo({ top: 0 });
    },
    /**
     * Unix time of the last successful read in ms, 0 for none; undefined while the list is live.
     */
    staleSince: newest.isError ? newest.dataUpdatedAt : undefined,
    retry: () =>
      void queryClient.invalidateQueries({ queryKey: requestsKey(workspace.id, trigger) }),
  };
}
