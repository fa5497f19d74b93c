import type { BeckonClient } from "@beckon/client";
import type { Scope } from "@beckon/contract";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { knownZone } from "../format/index.ts";
import { clientOf } from "./client.ts";
import { useMe } from "./me.ts";
import { roleFor } from "./role-for.ts";

/** The workspace whose data the screen shows. */
export interface CurrentWorkspace {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "admin" | "editor" | "viewer";
  /**
   * Time zone in which days of statistics and exact times are shown: `storedTimeZone`, or UTC if
   * the browser does not know it.
   */
  readonly timeZone: string;
  /** Time zone of the settings. Limits are reset at midnight there. */
  readonly storedTimeZone: string;
  /** Days for which the workspace keeps its runs; null if `maxRunRetentionDays` applies. */
  readonly runRetentionDays: number | null;
  /** Days for which the operator keeps runs; null: for ever. */
  readonly maxRunRetentionDays: number | null;
  /** The API client for this workspace. */
  readonly client: BeckonClient;
  /** Returns whether the person has this permission. */
  readonly can: (scope: Scope) => boolean;
  /** Returns why the person lacks this permission, for a disabled action; undefined if they do not. */
  readonly whyNot: (scope: Scope) => string | undefined;
}

/** The fields of the workspace. The person's permissions are in `meQuery`. */
export const workspaceQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [workspaceId, "workspace"],
    queryFn: ({ signal }) => clientOf(workspaceId).workspaces.get(workspaceId, { signal }),
  });

const WorkspaceContext = createContext<CurrentWorkspace | undefined>(undefined);

/**
 * Provides the workspace to all screens below. The route has loaded `meQuery` and `workspaceQuery`
 * before.
 */
export function WorkspaceProvider({ id, children }: { id: string; children: ReactNode }) {
  const { workspaces } = useMe();
  const { data } = useSuspenseQuery(workspaceQuery(id));
  const membership = workspaces.find((workspace) => workspace.id === id);
  const current = useMemo<CurrentWorkspace>(() => {
    const can = (scope: Scope) => membership?.scopes.includes(scope) ?? false;
    return {
      id,
      name: data.name,
      role: membership?.role ?? "viewer",
      timeZone: knownZone(data.time_zone),
      storedTimeZone: data.time_zone,
      runRetentionDays: data.run_retention_days,
      maxRunRetentionDays: data.max_run_retention_days,
      client: clientOf(id),
      can,
      whyNot: (scope) =>
        can(scope)
          ? undefined
          : `This needs the role ${roleFor(scope)}. Ask an owner of the workspace.`,
    };
  }, [id, data, membership]);
  return <WorkspaceContext value={current}>{children}</WorkspaceContext>;
}

/** Returns the workspace of the screen. @throws Error outside of a workspace's route */
export function useWorkspace(): CurrentWorkspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === undefined) throw new Error("useWorkspace: no workspace's route is above");
  return workspace;
}
