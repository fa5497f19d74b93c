import type { ImportedAgents } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { formatCounted } from "../../format/index.ts";
import { Banner, Button, LinkButton, List, Panel, Row } from "../../ui/index.ts";

interface ImportResultProps {
  readonly imported: ImportedAgents;
  readonly onAgain: () => void;
}

type ImportedAgent = ImportedAgents["agents"][number];

/** The agents that an import has created, and which secrets each still needs. */
export function ImportResult({ imported: { agents }, onAgain }: ImportResultProps) {
  const { id } = useWorkspace();
  const incomplete = agents.filter(({ secrets_needed }) => secrets_needed.length > 0).length;
  return (
    <div className="flex max-w-220 flex-col gap-4">
      <Banner tone={incomplete > 0 ? "warning" : "info"}>
        {agents.length === 0
          ? "The file has no agents, so none was created."
          : `Created ${formatCounted(agents.length, "agent")}.`}
        {incomplete === 0
          ? ""
          : ` ${formatCounted(incomplete, "agent")} cannot call all tools or receive all requests before you enter their secrets again.`}
      </Banner>
      {agents.length === 0 ? null : (
        <Panel title="Imported agents" padding="none">
          <List label="Imported agents">
            {agents.map((agent) => (
              <Row
                key={agent.id}
                href={`/w/${id}/agents/${agent.id}`}
                title={<span dir="auto">{agent.name}</span>}
                detail={detailOf(agent)}
              />
            ))}
          </List>
        </Panel>
      )}
      <div className="flex gap-2">
        <LinkButton href={`/w/${id}/agents`} variant="primary">
          Show all agents
        </LinkButton>
        <Button onClick={onAgain}>Import more</Button>
      </div>
    </div>
  );
}

function detailOf({ triggers, secrets_needed }: ImportedAgent): string {
  const facts = [
    ...(triggers.length === 0 ? [] : [formatCounted(triggers.length, "trigger")]),
    ...(secrets_needed.length === 0 ? [] : [`Enter again: ${secrets_needed.join(", ")}`]),
  ];
  return facts.join(" · ") || "Complete";
}
