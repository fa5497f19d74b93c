import type { Agent, ListAgentsQuery, Page } from "@beckon/client";
import type { InfiniteData, Query } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../../data/index.ts";
import { limitPollMs } from "../pause.ts";
import { agentsKey } from "../queries.ts";

/** The filters of the list, which are search parameters of the URL. */
export type AgentFilters = Pick<ListAgentsQuery, "search" | "paused" | "model" | "deleted">;

const yesOrNo = (value: string | undefined) =>
  value === "true" || value === "false" ? value : undefined;
const text = (value: string | undefined, max: number) => value?.trim().slice(0, max) || undefined;

/**
 * Returns the filters in the search parameters. Values that the API would reject are left out or
 * truncated.
 */
export function filtersOf(search: Readonly<Record<string, string | undefined>>): AgentFilters {
  const given = {
    search: text(search.search, 200),
    paused: yesOrNo(search.paused),
    model: text(search.model, 300),
    deleted: search.deleted === "true" ? "true" : undefined,
  } as const;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The agents that match the filters, newest first. */
export const agentsQuery = ({ id, client }: CurrentWorkspace, filters: AgentFilters) => ({
  ...listOptions([...agentsKey(id), "list", filters], (page, options) =>
    client.agents.list({ ...filters, ...page, view: "summary" }, options),
  ),
  // Events update the list only while it is shown. So it is refetched each time it is opened.
  staleTime: 0,
  meta: { live: true },
  refetchInterval: ({ state }: Query<Page<Agent>, Error, InfiniteData<Page<Agent>>>) =>
    limitPollMs(
      state.data?.pages.some(({ data }) => data.some(({ paused_by }) => paused_by === "limit")) ===
        true,
    ),
});
