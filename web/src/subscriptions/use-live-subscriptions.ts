import type { Subscription, WorkspaceEvent } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { useEvents, useThrottled } from "../live/index.ts";
import { subscriptionsKey } from "./list-query.ts";

/** Minimum time between two reads that events cause. */
const minIntervalMs = 2_000;

/** Returns whether the event can become a delivery of the subscription, or changes its state. */
export function concerns(
  { id, event_types: types, agent_ids: agentIds }: Subscription,
  { type, agent_id: agentId, data }: WorkspaceEvent,
): boolean {
  if (type === "subscription.disabled" && data.subscription_id === id) return true;
  // Triggers and tags are not compared, because the event does not contain them.
  return (
    types.includes(type) && (agentIds === null || (agentId !== null && agentIds.includes(agentId)))
  );
}

/** Refetches subscriptions when an event of the workspace concerns one of them. */
export function useLiveSubscriptions(subscriptions: readonly Subscription[]): void {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const readAgain = useThrottled(
    () => void queryClient.invalidateQueries({ queryKey: [...subscriptionsKey(id), "list"] }),
    minIntervalMs,
  );
  useEvents((events) => {
    if (events.some((event) => subscriptions.some((each) => concerns(each, event)))) readAgain();
  });
}
