import type { Agent } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { isNotFound, RefetchNotice, useIsGone, useWorkspace } from "../../data/index.ts";
import { Badge, LinkButton, LinkTabs, PageHeader, Problem } from "../../ui/index.ts";
import { agentQuery, useAgentId } from "../queries.ts";
import { AgentActions } from "./agent-actions.tsx";
import { AgentMissing } from "./agent-missing.tsx";
import { FrameSkeleton } from "./frame-skeleton.tsx";
import { PausedNotice } from "./paused-notice.tsx";
import { useAgentTabs } from "./tabs.ts";
import { useLiveAgent } from "./use-live-agent.ts";

/**
 * The part that all screens of an agent share: its name, its state, its actions and the tabs. The
 * screen itself is rendered only after the agent is loaded, so `useAgent` never suspends. The frame
 * is at least as high as the window, less the 56 px of the bar at the bottom of a phone. Screens
 * fill what is left of the frame with `flex-1`.
 */
export function AgentFrame() {
  const workspace = useWorkspace();
  const agentId = useAgentId();
  const query = useQuery(agentQuery(workspace, agentId));
  const { data: agent, error, refetch } = query;
  const isGone = useIsGone(error);
  useLiveAgent(agentId);
  if (agent !== undefined && !isGone)
    return (
      <Frame
        key={agentId}
        agent={agent}
        isDeleted={isNotFound(error)}
        notice={
          <RefetchNotice
            noun="agent"
            query={query}
            restore={
              <LinkButton href={`/w/${workspace.id}/agents?deleted=true`} size="small">
                Show deleted agents
              </LinkButton>
            }
          />
        }
      />
    );
  if (error === null) return <FrameSkeleton />;
  if (isNotFound(error)) return <AgentMissing />;
  return (
    <div className="p-4 md:p-6">
      <Problem error={error} title="The agent could not be loaded." onRetry={refetch} />
    </div>
  );
}

interface FrameProps {
  readonly agent: Agent;
  /** True if the agent was deleted, and the screen is shown only for its unsaved changes. */
  readonly isDeleted: boolean;
  readonly notice: ReactNode;
}

function Frame({ agent, isDeleted, notice }: FrameProps) {
  const workspace = useWorkspace();
  const { tabs, current } = useAgentTabs();
  return (
    <div className="flex min-h-[calc(100dvh-3.5rem)] min-w-0 flex-col md:min-h-dvh">
      <title>{`${agent.name} · Beckon`}</title>
      <PageHeader
        title={agent.name}
        breadcrumb={[{ label: "Agents", href: `/w/${workspace.id}/agents` }]}
        status={
          <>
            <Badge tone={agent.paused || isDeleted ? "brass" : "neutral"}>
              {isDeleted ? "Deleted" : agent.paused ? "Paused" : "Active"}
            </Badge>
            <Badge>v{agent.version}</Badge>
          </>
        }
        actions={isDeleted ? undefined : <AgentActions agent={agent} />}
        tabs={<LinkTabs label="Agent" current={current} tabs={tabs} />}
      >
        {notice}
        {isDeleted ? null : <PausedNotice agent={agent} />}
      </PageHeader>
      <div className="flex min-w-0 flex-1 flex-col p-4 md:p-6">
        <Outlet />
      </div>
    </div>
  );
}
