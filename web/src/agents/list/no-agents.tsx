import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { CurlLine, EmptyState, LinkButton } from "../../ui/index.ts";
import type { AgentFilters } from "./queries.ts";

interface NoAgentsProps {
  readonly filters: AgentFilters;
  /** The primary action, a button. */
  readonly action: ReactNode;
}

/** Shown instead of the list if it has no rows. */
export function NoAgents({ filters, action }: NoAgentsProps) {
  const { id } = useWorkspace();
  const path = `/w/${id}/agents`;
  const { deleted, ...narrowing } = filters;
  if (Object.keys(narrowing).length > 0)
    return (
      <EmptyState
        action={
          <LinkButton href={deleted === undefined ? path : `${path}?deleted=true`}>
            Clear filters
          </LinkButton>
        }
      >
        No agent matches.
      </EmptyState>
    );
  if (deleted !== undefined)
    return (
      <EmptyState action={<LinkButton href={path}>Show agents</LinkButton>}>
        Agents that somebody deletes are listed here for 30 days and can be restored.
      </EmptyState>
    );
  return (
    <EmptyState
      action={action}
      snippet={
        <CurlLine
          path="/agents"
          body={'{"name": "Orders", "model": "demo/echo"}'}
          credentialHref={`/w/${id}/keys`}
        />
      }
    >
      An agent is a model with your instructions and tools, which other systems call by API or by
      trigger.
    </EmptyState>
  );
}
