import type { Delivery, DeliveryDetails, ListDeliveriesQuery, Subscription } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";
import { pollMs } from "./attempt-state.ts";
import { subscriptionsKey } from "./list-query.ts";

/** Prefix of the keys of all queries about a subscription and its deliveries. */
export const subscriptionKey = (workspaceId: string, subscriptionId: string) =>
  [...subscriptionsKey(workspaceId), subscriptionId] as const;

/**
 * Options of queries that live events keep up to date while a screen shows their data. Nothing
 * updates the data of a closed screen, so it is refetched when the screen opens. It is refetched
 * again once the stream of events has started (`meta.live`), because the stream lacks all changes
 * before its start.
 */
const live = { staleTime: 0, meta: { live: true } };

/** One subscription. */
export const subscriptionQuery = ({ id, client }: CurrentWorkspace, subscriptionId: string) =>
  queryOptions({
    queryKey: [...subscriptionKey(id, subscriptionId), "details"],
    queryFn: ({ signal }): Promise<Subscription> =>
      client.subscriptions.get(subscriptionId, { signal }),
    ...live,
    refetchInterval: ({ state }) =>
      pollMs([state.data?.health.next_attempt_at ?? null], Date.now()),
  });

/** One attempt of a delivery. */
export type DeliveryAttempt = DeliveryDetails["attempts_log"][number];

/** Filters of a list of deliveries, as the URL has them. */
export type DeliveryFilters = Readonly<
  Partial<Record<"status" | "type" | "run_id", string | undefined>>
>;

/** Prefix of the keys of all lists of deliveries of a subscription. */
export const deliveriesKey = (workspaceId: string, subscriptionId: string) =>
  [...subscriptionKey(workspaceId, subscriptionId), "deliveries"] as const;

/** The deliveries of a subscription that match the filters, newest first. */
export const deliveriesQuery = (
  { id, client }: CurrentWorkspace,
  subscriptionId: string,
  filters: DeliveryFilters,
) => ({
  ...listOptions<Delivery>([...deliveriesKey(id, subscriptionId), filters], (page, options) =>
    client.deliveries.list(
      subscriptionId,
      { ...(filters as ListDeliveriesQuery), ...page },
      options,
    ),
  ),
  ...live,
});

/** One delivery, with its body and attempts. */
export const deliveryQuery = (
  { id, client }: CurrentWorkspace,
  subscriptionId: string,
  deliveryId: string,
) =>
  queryOptions({
    queryKey: [...subscriptionKey(id, subscriptionId), "delivery", deliveryId],
    queryFn: ({ signal }) => client.deliveries.get(subscriptionId, deliveryId, { signal }),
    ...live,
    refetchInterval: ({ state }) => pollMs([state.data?.next_attempt_at ?? null], Date.now()),
  });

/** The deliveries about a run, newest first. */
export const runDeliveriesQuery = ({ id, client }: CurrentWorkspace, runId: string) => ({
  ...listOptions<Delivery>([...subscriptionsKey(id), "of run", runId], (page, options) =>
    client.deliveries.listForRun(runId, page, options),
  ),
  ...live,
});

/** Returns the ids that the URL of a subscription's screen contains. A missing id is empty. */
export function useSubscriptionIds() {
  const { subscriptionId = "", deliveryId = "" }: Readonly<Record<string, string | undefined>> =
    useParams({ strict: false });
  return { subscriptionId, deliveryId };
}
