import type { Agent } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Problem, SearchField, Skeleton } from "../../ui/index.ts";
import { agentsKey } from "../queries.ts";

interface AgentPickerProps {
  /** Id of the chosen agent; empty if none is chosen. */
  readonly value: string;
  readonly onChoose: (agent: Agent) => void;
}

const look =
  "flex min-h-8 w-full flex-none items-center rounded-control px-2 text-left hover:bg-hover focus-visible:-outline-offset-2 aria-pressed:font-semibold";

/** Maximum number of listed agents. Others can be found by typing. */
const maxListed = 20;

/** Chooses one of all agents of the workspace, which are found by their names. */
export function AgentPicker({ value, onChoose }: AgentPickerProps) {
  const { id, client } = useWorkspace();
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const agents = useQuery({
    queryKey: [...agentsKey(id), "to pick", search],
    queryFn: ({ signal }) =>
      client.agents
        .list({ limit: maxListed, view: "summary", ...(search && { search }) }, { signal })
        .page(),
    placeholderData: (before) => before,
  });
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-1 p-1">
      <div className="flex flex-none">
        <SearchField label="Search agents" placeholder="Name" value={text} onChange={setText} />
      </div>
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
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
            onClick={() => onChoose(agent)}
            className={look}
          >
            <span className="truncate" dir="auto">
              {agent.name}
            </span>
          </button>
        ))}
        {agents.data?.next == null ? null : (
          <p className="px-2 py-1.5 text-label text-ink-3">There are more: type to find them.</p>
        )}
      </div>
    </div>
  );
}
