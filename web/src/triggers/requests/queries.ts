import type { ListTriggerRequestsQuery } from "@beckon/client";
import type { ReceivedRequest } from "@beckon/contract";
import { queryOptions } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type CurrentWorkspace, listOptions } from "../../data/index.ts";

/** A trigger of the workspace, by its ids. */
export interface TriggerIds {
  readonly id: string;
  readonly agent_id: string;
}

/** Filters of a list of received requests. */
export type RequestFilters = Pick<ListTriggerRequestsQuery, "outcome" | "event_type">;

/** Prefix of the keys of all queries about a trigger's received requests. */
export const requestsKey = (workspaceId: string, { id, agent_id }: TriggerIds) =>
  [workspaceId, "requests", agent_id, id] as const;

/** The requests that a trigger has received, newest first. */
export const requestsQuery = (
  { id, client }: CurrentWorkspace,
  trigger: TriggerIds,
  filters: RequestFilters,
) => ({
  ...listOptions<ReceivedRequest>([...requestsKey(id, trigger), "list", filters], (page, options) =>
    client.triggers.listRequests(trigger.agent_id, trigger.id, { ...filters, ...page }, options),
  ),
  // Refetched each time the screen opens, because nothing updates the cache while it is closed.
  staleTime: 0,
  meta: { live: true },
});

/** Time between two reads of the newest requests, in milliseconds. */
const pollMs = 2_000;

/**
 * Number of newest requests that are read each time. One is not enough, because the list is in the
 * order of arrival: a request can be stored after another one that arrived later. The number must
 * not exceed the page size of the list, because the list refetches only its first page to show new
 * requests.
 */
const maxPolled = 20;

/**
 * The newest requests of a list. They are read every two seconds while the page is visible, because
 * requests that start no run cause no event.
 */
export const newestRequestsQuery = (
  { id, client }: CurrentWorkspace,
  trigger: TriggerIds,
  filters: RequestFilters = {},
) =>
  queryOptions({
    queryKey: [...requestsKey(id, trigger), "newest", filters],
    queryFn: async ({ signal }): Promise<readonly ReceivedRequest[]> => {
      const query = { ...filters, limit: maxPolled };
      const listing = client.triggers.listRequests(trigger.agent_id, trigger.id, query, {
        signal,
      });
      return (await listing.page()).data;
    },
    refetchInterval: pollMs,
    staleTime: 0,
    meta: { live: true },
  });

/**
 * The time of the last request that a trigger with settings has received; null if there was none.
 * New runs do not refetch it: the list of triggers would send one request per trigger.
 */
export const lastRequestQuery = ({ id, client }: CurrentWorkspace, trigger: TriggerIds) =>
  queryOptions({
    queryKey: [id, "last requests", trigger.agent_id, trigger.id],
    queryFn: async ({ signal }) => {
      const query = { limit: 1 };
      const listing = client.triggers.listRequests(trigger.agent_id, trigger.id, query, {
        signal,
      });
      return (await listing.page()).data[0]?.received_at ?? null;
    },
    staleTime: 0,
    meta: { live: true },
  });

/** One received request with what it contained. */
export const requestQuery = (
  { id, client }: CurrentWorkspace,
  trigger: TriggerIds,
  requestId: string,
) =>
  queryOptions({
    queryKey: [...requestsKey(id, trigger), "details", requestId],
    queryFn: ({ signal }) =>
      client.triggers.getRequest(trigger.agent_id, trigger.id, requestId, { signal }),
    staleTime: 0,
    meta: { live: true },
  });

/** Returns the id of the received request in the URL; an empty text if the URL has none. */
export function useRequestId(): string {
  return (useParams({ strict: false }) as { readonly requestId?: string }).requestId ?? "";
}
