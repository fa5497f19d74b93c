import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { agentsKey } from "../../../agents/index.ts";
import { useWorkspace } from "../../../data/index.ts";
import { Problem, SearchField, Skeleton } from "../../../ui/index.ts";

interface AgentEditorProps {
  /** Id of the chosen agent; empty if none is chosen. */
  readonly value: string;
  readonly onChoose: (agentId: string) => void;
}

const look =
  "flex min-h-8 w-full items-center rounded-control px-2 text-left hover:bg-hover focus-visible:-outline-offset-2 aria-pressed:font-semibold";

/** Chooses an agent by its name. */
export function AgentEditor({ value, onChoose }: AgentEditorProps) {
  const { id, client } = useWorkspace();
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const agents = useQuery({
    queryKey: [...agentsKey(id), "filter", search],
    queryFn: ({ signal }) =>
      client.agents.list({ limit: 20, ...(search && { search }) }, { signal }).page(),
    placeholderData: (before) => before,
  });
  return (
    <div className="flex w-72 flex-col gap-1 p-1">
      <SearchField label="Search agents" placeholder="Name" value={text} onChange={setText} />
      {agents.isPending ? <Skeleton /> : null}
      {agents.isError ? (
        <Problem
          error={agents.error}
          title="Agents could not be loaded."
          onRetry={agents.refetch}
        />
      ) : null}
      {agents.data?.data.length === 0 ? (
        <p className="px-2 py-1 text-ink-3">No agent matches.</p>
      ) : null}
      {agents.data?.data.map((agent) => (
        <button
          key={agent.id}
          type="button"
          aria-pressed={agent.id === value}
          onClick={() => onChoose(agent.id)}
          className={look}
        >
          <span className="truncate" dir="auto">
            {agent.name}
          </span>
        </button>
      ))}
    </div>
  );
}
