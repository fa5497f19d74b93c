import type { Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { useEvents, useThrottled } from "../live/index.ts";
import { concerns } from "./concerns.ts";
import { subscriptionsKey } from "./list-query.ts";

/** Minimum time between two reads that events cause. */
const minIntervalMs = 2_000;

/** Refetches subscriptions when an event of the workspace concerns one of them. */
export function useLiveSubscriptions(subscriptions: readonly Subscription[]): void {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const readAgain = useThrottled(
    () => queryClient.invalidateQueries({ queryKey: [...subscriptionsKey(id), "list"] }),
    minIntervalMs,
  );
  useEvents((events) => {
    if (events.some((event) => subscriptions.some((each) => concerns(each, event)))) readAgain();
  });
}
