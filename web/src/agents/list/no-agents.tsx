import { useWorkspace } from "../../data/index.ts";
import { CodeBlock, EmptyState, LinkButton } from "../../ui/index.ts";
import type { AgentFilters } from "./queries.ts";

/** What the list shows if it has no rows. */
export function NoAgents({ filters }: { readonly filters: AgentFilters }) {
  const { id, can } = useWorkspace();
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
      action={
        can("agents:write") ? (
          <LinkButton href={`${path}/new`} variant="primary">
            New agent
          </LinkButton>
        ) : undefined
      }
      snippet={
        <CodeBlock
          label="curl command"
          code={`curl ${location.origin}/api/public/agents \\\n  -H "x-api-key: $KEY" -H "Content-Type: application/json" \\\n  -d '{"name": "Orders", "model": "demo/echo"}'`}
        />
      }
    >
      An agent is a model with your instructions and tools, which other systems call by API or by
      trigger.
    </EmptyState>
  );
}
