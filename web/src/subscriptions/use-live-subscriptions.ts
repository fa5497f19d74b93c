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
  event: WorkspaceEvent,
): boolean {
  const { type, agent_id: agentId, data } = event;
  if (type === "subscription.disabled" && data.subscription_id === id) return true;
  // The end of a run can have replaced calls of tools.
  const canHaveCalled = "merged" in event && types.includes("run.tool_call");
  // Triggers and tags are not compared, because the event does not contain them.
  return (
    (types.includes(type) || canHaveCalled) &&
    (agentIds === null || (agentId !== null && agentIds.includes(agentId)))
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
