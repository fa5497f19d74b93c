import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** Interval at which the screen refetches the usage of the plan. */
const refreshMs = 10_000;

/**
 * Prefix of the keys of all queries about the workspace's plan, to refetch them with
 * `announceChanges`.
 */
export const planKey = (workspaceId: string) => [workspaceId, "plan"] as const;

/**
 * Prefix of the keys of all queries about plans and about the plans of workspaces.
 * `announceChanges` refetches these queries.
 */
export const plansKey = (workspaceId: string) => [workspaceId, "plans"] as const;

/** All plans of the installation, by name. */
export const plansQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...plansKey(id), "list"], (page, options) =>
    client.plans.list({ ...page, limit: 200 }, options),
  );

/** All workspaces with their plans, newest first. */
export const workspacePlansQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...plansKey(id), "workspaces"], (page, options) =>
    client.workspacePlans.list(page, options),
  );

/** The workspace's plan, with the amounts used. */
export const planQuery = ({ id, client }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...planKey(id), "usage"],
    queryFn: ({ signal }) => client.plan.getUsage({ signal }),
    refetchInterval: refreshMs,
  });
