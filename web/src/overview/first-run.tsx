import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../data/index.ts";
import { CodeBlock, EmptyState, LinkButton } from "../ui/index.ts";
import { newestAgentQuery } from "./queries.ts";

/** What a workspace without runs shows: the way to the first one. */
export function FirstRun() {
  const workspace = useWorkspace();
  const { can, id } = workspace;
  const agent = useQuery(newestAgentQuery(workspace)).data;
  if (!can("agents:invoke") || !can("agents:read"))
    return <EmptyState>Runs are shown here as they happen. There is none yet.</EmptyState>;
  if (agent === undefined) return null;
  if (agent === null)
    return (
      <EmptyState
        action={
          <LinkButton href={`/w/${id}/agents/new`} variant="primary">
            New agent
          </LinkButton>
        }
      >
        An agent is a model with your instructions and tools. Make one, send it a message, and its
        first run appears here.
      </EmptyState>
    );
  return (
    <EmptyState
      action={
        <LinkButton href={`/w/${id}/agents/${agent.id}/playground`} variant="primary">
          Send it a message
        </LinkButton>
      }
      snippet={
        <CodeBlock
          label="curl command"
          code={`curl ${location.origin}/api/public/agents/${agent.id}/invoke \\\n  -H "x-api-key: $TOKEN" -H "Content-Type: application/json" \\\n  -d '{"input": "Hello"}'`}
        />
      }
    >
      <bdi className="font-semibold text-ink">{agent.name}</bdi> is ready. Its first run appears
      here, whether you send a message or another system calls it.
    </EmptyState>
  );
}
