import type { ListedRun } from "@beckon/client";
import { firstLine } from "../../format/index.ts";
import { type Column, Id, Money, StatusMark, Time, Tokens, UserText } from "../../ui/index.ts";
import type { AgentName } from "../agent-names.ts";
import { isEnded } from "../patch-run.ts";
import { sourceLabel } from "../source-label.ts";
import { RunDuration } from "./run-duration.tsx";

/** Names of all columns, in the order of the table. */
export const columnNames = [
  "state",
  "agent",
  "input",
  "source",
  "external_id",
  "tags",
  "started",
  "duration",
  "tokens",
  "cost",
] as const;
export type ColumnName = (typeof columnNames)[number];

/**
 * Columns that are shown if the person has not chosen others. External ids and tags are left out,
 * because few workspaces use them.
 */
export const defaultColumns: readonly ColumnName[] = columnNames.filter(
  (name) => name !== "external_id" && name !== "tags",
);

/** Columns that are always shown, because a row cannot be understood without them. */
export const fixedColumns: ReadonlySet<ColumnName> = new Set(["state", "input"]);

export const columnLabels: Readonly<Record<ColumnName, string>> = {
  state: "State",
  agent: "Agent",
  input: "Input",
  source: "Source",
  external_id: "External id",
  tags: "Tags",
  started: "Started",
  duration: "Duration",
  tokens: "Tokens",
  cost: "Cost",
};

/**
 * Names both possible causes of an unknown cost. Only the steps of the run show which one it is,
 * and the list does not load them.
 */
const unknownCost =
  "A model of this run has no known price, or the run is older than the metering of costs.";

const nothing = <span className="text-ink-3">–</span>;

/**
 * Returns the columns of a list of runs.
 * @param isWide whether there is enough space for the names of states
 */
export function runColumns(
  agents: ReadonlyMap<string, AgentName>,
  isWide: boolean,
): Readonly<Record<ColumnName, Column<ListedRun>>> {
  return {
    state: {
      id: "state",
      header: columnLabels.state,
      headerHidden: !isWide,
      width: isWide ? 124 : 40,
      cell: ({ status }) => <StatusMark status={status} label={isWide ? "shown" : "hidden"} />,
    },
    agent: {
      id: "agent",
      header: columnLabels.agent,
      width: 184,
      from: "md",
      cell: ({ agent_id }) => <AgentCell agentId={agent_id} agents={agents} />,
    },
    input: { id: "input", header: columnLabels.input, cell: (run) => <InputCell run={run} /> },
    source: {
      id: "source",
      header: columnLabels.source,
      width: 80,
      from: "lg",
      cell: ({ source }) => <span className="text-ink-2">{sourceLabel(source)}</span>,
    },
    external_id: {
      id: "external_id",
      header: columnLabels.external_id,
      width: 144,
      from: "md",
      cell: ({ external_id }) => (external_id === null ? nothing : <UserText text={external_id} />),
    },
    tags: {
      id: "tags",
      header: columnLabels.tags,
      width: 144,
      from: "md",
      cell: ({ tags }) => (tags.length === 0 ? nothing : <UserText text={tags.join(", ")} />),
    },
    started: {
      id: "started",
      header: columnLabels.started,
      // On a phone this is the last column, whose padding is wider. So only 80 of these px are left
      // for the time.
      width: 104,
      align: "end",
      cell: ({ started_at }) => <Time value={started_at} />,
    },
    duration: {
      id: "duration",
      header: columnLabels.duration,
      width: 88,
      align: "end",
      from: "sm",
      cell: (run) => <RunDuration run={run} />,
    },
    tokens: {
      id: "tokens",
      header: columnLabels.tokens,
      width: 184,
      align: "end",
      from: "xl",
      cell: (run) =>
        isEnded(run) ? (
          <Tokens
            input={run.usage.input_tokens}
            output={run.usage.output_tokens}
            estimated={run.usage.estimated}
          />
        ) : (
          nothing
        ),
    },
    cost: {
      id: "cost",
      header: columnLabels.cost,
      width: 92,
      align: "end",
      from: "md",
      cell: (run) =>
        isEnded(run) ? (
          <Money
            micros={run.cost_micros}
            estimated={run.usage.estimated}
            unknownReason={unknownCost}
          />
        ) : (
          nothing
        ),
    },
  };
}

/**
 * Returns the column of inputs for windows below 768 px. Its second line has the state and the
 * agent.
 * @param hasAgent whether the list has runs of several agents
 */
export function narrowColumn(
  agents: ReadonlyMap<string, AgentName>,
  hasAgent: boolean,
): Column<ListedRun> {
  return {
    id: "input",
    header: columnLabels.input,
    cell: (run) => (
      <span className="flex min-w-0 flex-col">
        <span className="min-w-0">
          <InputCell run={run} />
        </span>
        <span className="flex min-w-0 items-center gap-2 text-dense text-ink-2">
          <span className="shrink-0">
            <StatusMark status={run.status} />
          </span>
          {hasAgent ? (
            <span className="min-w-0">
              <AgentCell agentId={run.agent_id} agents={agents} />
            </span>
          ) : null}
        </span>
      </span>
    ),
  };
}

interface AgentCellProps {
  readonly agentId: string;
  readonly agents: ReadonlyMap<string, AgentName>;
}

function AgentCell({ agentId, agents }: AgentCellProps) {
  const name = agents.get(agentId)?.name;
  if (name === undefined) return <Id value={agentId} />;
  return <UserText text={name} />;
}

function InputCell({ run }: { readonly run: ListedRun }) {
  // All lines are joined. The input of a trigger's run starts with a fixed text, the trigger's
  // prompt prefix. The payload follows in later lines and would otherwise not be visible.
  const line = firstLine(run.input.replace(/\s+/g, " "));
  if (line === "") return <span className="text-ink-3">Empty input</span>;
  return <UserText text={line} />;
}
