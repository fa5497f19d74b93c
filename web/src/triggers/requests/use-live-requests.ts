import type { Page } from "@beckon/client";
import type { ReceivedRequest } from "@beckon/contract";
import { type InfiniteData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useWorkspace } from "../../data/index.ts";
import { triggerQuery } from "../queries.ts";
import {
  newestRequestQuery,
  type RequestFilters,
  requestsKey,
  requestsQuery,
  type TriggerIds,
} from "./queries.ts";

/**
 * If the page is scrolled by at most this many px, new rows are added at once. Further down, they
 * would move the rows that are being read.
 */
const topPx = 400;

/**
 * Keeps a list of received requests up to date. New rows are added at once. If the person has
 * scrolled down, they are added after scrolling up or by `show`.
 * @param firstId id of the first row that is shown; undefined if there is none
 */
export function useLiveRequests(
  trigger: TriggerIds,
  filters: RequestFilters,
  firstId: string | undefined,
) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const newest = useQuery(newestRequestQuery(workspace, trigger, filters));
  const newestId = newest.data?.id;
  const list = requestsQuery(workspace, trigger, filters).queryKey;
  const hasNews = newestId !== undefined && newestId !== firstId;
  const enter = () => {
    // Only the first page is refetched. The others are loaded when a person scrolls to them.
    queryClient.setQueryData<InfiniteData<Page<ReceivedRequest>>>(list, (data) =>
      data === undefined || data.pages.length < 2
        ? data
        : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    void queryClient.invalidateQueries({ queryKey: list });
  };
  const onNews = useEffectEvent(() => {
    // A captured sample ends listening, so the trigger with its `listening_until` is refetched.
    const { agent_id, id } = trigger;
    void queryClient.invalidateQueries({
      queryKey: triggerQuery(workspace, agent_id, id).queryKey,
      exact: true,
    });
    if (window.scrollY <= topPx) enter();
  });
  const news = hasNews ? newestId : undefined;
  useEffect(() => {
    if (news !== undefined) onNews();
  }, [news]);
  const onScroll = useEffectEvent(() => {
    if (hasNews && window.scrollY <= topPx) enter();
  });
  useEffect(() => {
    const handle = () => onScroll();
    document.addEventListener("scroll", handle, { passive: true });
    return () => document.removeEventListener("scroll", handle);
  }, []);
  return {
    hasNews: hasNews && firstId !== undefined,
    show: () => {
      enter();
      window.scrollTo({ top: 0 });
    },
    /** Time of the last successful read in ms; undefined while the list is live. */
    staleSince: newest.isError ? newest.dataUpdatedAt : undefined,
    retry: () =>
      void queryClient.invalidateQueries({ queryKey: requestsKey(workspace.id, trigger) }),
  };
}
