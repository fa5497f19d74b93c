import type { ModelList, ProviderCheck } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, firstRows, listOptions } from "../data/index.ts";

/** Prefix of the keys of all queries about providers, to refetch them with `announceChanges`. */
export const providersKey = (workspaceId: string) => [workspaceId, "providers"] as const;

/** Prefix of the keys of all queries about models, which change when providers change. */
export const modelsKey = (workspaceId: string) => [workspaceId, "models"] as const;

/** The workspace's own providers, then the operator's. */
export const providersQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...providersKey(id), "list"], (page, options) =>
    client.providers.list(page, options),
  );

/** The models that the workspace's agents can use, by provider. */
export const modelsQuery = ({ id, client }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...modelsKey(id), "list"],
    queryFn: async ({ signal }) => {
      const lists: ModelList[] = [];
      for await (const list of client.models.list({}, { signal })) lists.push(list);
      return lists;
    },
  });

/**
 * Query key of the result of the last check of a provider. Only `useCheck` writes this cache entry;
 * no query fetches it.
 */
export const checkKey = (workspaceId: string, providerId: string) =>
  [workspaceId, "provider checks", providerId] as const;

/** The result of a check that this tab has made. */
export interface MadeCheck extends ProviderCheck {
  /** Time at which the check was requested, in milliseconds since 1970. */
  readonly requestedAtMs: number;
  /** Time at which the result arrived, in milliseconds since 1970. */
  readonly checkedAtMs: number;
}

/**
 * The agents that use the workspace's provider. The names of their models do not show that: an
 * agent can use the operator's provider of the same name. Only the newest 2,000 agents are
 * searched; the API checks all of them.
 */
export const agentsOfProviderQuery = ({ id, client }: CurrentWorkspace, providerId: string) =>
  queryOptions({
    queryKey: [id, "agents", "of provider", providerId],
    queryFn: async ({ signal }) => {
      const agents = await firstRows(
        client.agents.list({ limit: 200, view: "summary" }, { signal }),
        2_000,
      );
      return agents.filter((agent) => agent.provider_id === providerId);
    },
  });
