import { useWorkspace } from "../../data/index.ts";
import { Button, CurlLine, EmptyState, LinkButton } from "../../ui/index.ts";

interface NoRunsProps {
  /** Removes all filters; undefined if there is none that can be removed. */
  readonly clearFilters: (() => void) | undefined;
  /** Id of the agent to which the list is limited; undefined if it is not limited to an agent. */
  readonly agentId: string | undefined;
}

/** Shown instead of a list of runs if it has no rows. */
export function NoRuns({ clearFilters, agentId }: NoRunsProps) {
  const { id } = useWorkspace();
  if (clearFilters !== undefined)
    return (
      <EmptyState action={<Button onClick={clearFilters}>Clear filters</Button>}>
        No run matches.
      </EmptyState>
    );
  const hrefOf = (tab: string) =>
    agentId === undefined ? `/w/${id}/agents` : `/w/${id}/agents/${agentId}/${tab}`;
  return (
    <EmptyState
      action={
        <LinkButton href={hrefOf("playground")} variant="primary">
          {agentId === undefined ? "Choose an agent" : "Open the playground"}
        </LinkButton>
      }
      snippet={
        <CurlLine
          path={`/agents/${agentId ?? "AGENT_ID"}/invoke`}
          body={'{"input": "Hello"}'}
          credential="token"
          credentialHref={hrefOf("connect")}
        />
      }
    >
      Each call of an agent is a run, with everything that happened in it.
    </EmptyState>
  );
}
