import type { Scope } from "@beckon/contract";
import { useRouter, useRouterState } from "@tanstack/react-router";
import { useWorkspace } from "../../data/index.ts";
import type { LinkTab } from "../../ui/index.ts";
import { useAgentId } from "../queries.ts";

interface AgentTab {
  readonly label: string;
  /** Path below `/w/:workspace_id/agents/:agent_id`. */
  readonly path: string;
  /** Permission to read what the tab shows. */
  readonly scope: Scope;
}

const tabs: readonly AgentTab[] = [
  { label: "Playground", path: "/playground", scope: "agents:read" },
  { label: "Settings", path: "/settings", scope: "agents:read" },
  { label: "Connect", path: "/connect", scope: "agents:read" },
  { label: "Triggers", path: "/triggers", scope: "triggers:read" },
  { label: "Runs", path: "/runs", scope: "runs:read" },
  { label: "Versions", path: "/versions", scope: "agents:read" },
];

/**
 * Returns the tabs that have a route and that the person has permission to read. `current` is the
 * `href` of the open tab; undefined if none of them is open.
 */
export function useAgentTabs(): {
  readonly tabs: readonly LinkTab[];
  readonly current: string | undefined;
} {
  const { id, can } = useWorkspace();
  const { routesByPath } = useRouter();
  const agentId = useAgentId();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const known = new Set(Object.keys(routesByPath));
  const shown = tabs
    .filter(({ path, scope }) => can(scope) && known.has(`/w/$workspaceId/agents/$agentId${path}`))
    .map(({ label, path }) => ({ label, href: `/w/${id}/agents/${agentId}${path}` }));
  const current = shown.find(({ href }) => pathname === href || pathname.startsWith(`${href}/`));
  return { tabs: shown, current: current?.href };
}
