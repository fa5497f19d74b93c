import { useQuery } from "@tanstack/react-query";
import { newestAgentQuery } from "../agents/index.ts";
import { useWorkspace } from "../data/index.ts";
import { Button, CurlLine, EmptyState, LinkButton, Problem } from "../ui/index.ts";

/** Shown in a workspace without runs: explains what a run is, and how to start the first one. */
export function FirstRun() {
  const workspace = useWorkspace();
  const { can, whyNot, id } = workspace;
  const { data: agent, error, refetch } = useQuery(newestAgentQuery(workspace));
  const canSee = can("agents:read");
  if (agent === undefined && canSee)
    return error === null ? null : (
      <Problem error={error} title="The agents could not be loaded." onRetry={refetch} />
    );
  if (agent === null)
    return (
      <EmptyState
        action={
          <Action
            label="New agent"
            href={`/w/${id}/agents/new`}
            disabledReason={whyNot("agents:write")}
          />
        }
        snippet={
          <CurlLine
            path="/agents"
            body={'{"name": "Orders", "model": "demo/echo"}'}
            credentialHref={`/w/${id}/keys`}
          />
        }
      >
        An agent is a model with your instructions and tools. Make one and send it a message: its
        first run appears here.
      </EmptyState>
    );
  return (
    <EmptyState
      action={
        <Action
          label="Send a message"
          href={`/w/${id}/agents/${agent?.id}/playground`}
          disabledReason={whyNot(canSee ? "agents:invoke" : "agents:read")}
        />
      }
      snippet={
        <CurlLine
          path={`/agents/${agent?.id ?? "AGENT_ID"}/invoke`}
          body={'{"input": "Hello"}'}
          credential="token"
          credentialHref={agent && `/w/${id}/agents/${agent.id}/connect`}
        />
      }
    >
      Each call of an agent is a run, which appears here as it happens.{" "}
      {agent === undefined ? null : (
        <>
          <bdi className="font-semibold text-ink">{agent.name}</bdi> is ready for its first one.
        </>
      )}
    </EmptyState>
  );
}

interface ActionProps {
  readonly label: string;
  readonly href: string;
  readonly disabledReason: string | undefined;
}

function Action({ label, href, disabledReason }: ActionProps) {
  if (disabledReason === undefined)
    return (
      <LinkButton href={href} variant="primary">
        {label}
      </LinkButton>
    );
  return (
    <Button variant="primary" disabledReason={disabledReason}>
      {label}
    </Button>
  );
}
