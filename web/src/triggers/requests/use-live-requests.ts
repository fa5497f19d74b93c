import type { ReceivedRequest } from "@beckon/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useWorkspace } from "../../data/index.ts";
import { triggerQuery } from "../queries.ts";
import { useNewRows } from "../use-new-rows.ts";
import {
  lastRequestQuery,
  newestRequestsQuery,
  type RequestFilters,
  requestsKey,
  requestsQuery,
  type TriggerIds,
} from "./queries.ts";

/**
 * Keeps a list of received requests up to date. New rows are added as by `useNewRows`.
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
  const list = requestsQuery(workspace, trigger, filters);
  const ids = (newest.data ?? []).map(({ id }) => id);
  // React compares strings by value. The array is new on each render, so an effect that depends on
  // it would run after each render.
  const received = ids.join(" ");
  const onReceived = useEffectEvent(() => {
    // When Beckon captures a request as a sample, it stops listening for one. So the trigger with
    // its `listening_until` is refetched, even if no row is new: the list can already contain the
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
  const news = useNewRows(list, ids, shown);
  return {
    ...news,
    /**
     * Unix time of the last successful read in ms, 0 for none; undefined while the list is live.
     */
    staleSince: newest.isError ? newest.dataUpdatedAt : undefined,
    retry: () =>
      void queryClient.invalidateQueries({ queryKey: requestsKey(workspace.id, trigger) }),
  };
}
