import type { Agent } from "@beckon/client";
import { Badge, type Column, Time, UserText } from "../../ui/index.ts";
import { ActivityCell } from "./activity-cell.tsx";
import { RestoreButton } from "./restore-button.tsx";

const name: Column<Agent> = {
  id: "name",
  header: "Name",
  cell: ({ name, description }) => (
    <span className="flex min-w-0 gap-2">
      <span className="max-w-full shrink-0 font-semibold">
        <UserText text={name} />
      </span>
      {description === "" ? null : (
        <span className="min-w-0 text-ink-3">
          <UserText text={description} />
        </span>
      )}
    </span>
  ),
};

const model: Column<Agent> = {
  id: "model",
  header: "Model",
  cell: ({ model }) => (
    <span title={model} className="font-mono text-dense">
      {model}
    </span>
  ),
  width: 240,
  from: "md",
};

const version: Column<Agent> = {
  id: "version",
  header: "Version",
  cell: ({ version }) => <span className="font-mono text-dense">{version}</span>,
  align: "end",
  width: 80,
  from: "lg",
};

/** Columns of the agents that are not deleted. */
export const agentColumns: readonly Column<Agent>[] = [
  name,
  model,
  {
    id: "state",
    header: "State",
    cell: ({ paused, pause_reason }) =>
      paused ? (
        <span title={pause_reason ?? undefined}>
          <Badge tone="brass">Paused</Badge>
        </span>
      ) : (
        <span className="text-ink-2">Active</span>
      ),
    width: 88,
  },
  {
    id: "activity",
    header: "Recent runs",
    cell: ({ id }) => <ActivityCell agentId={id} />,
    width: 152,
    from: "lg",
  },
  version,
  {
    id: "updated",
    header: "Updated",
    cell: ({ updated_at }) => <Time value={updated_at} />,
    align: "end",
    width: 120,
    from: "sm",
  },
];

/** Columns of the deleted agents. */
export const deletedColumns: readonly Column<Agent>[] = [
  name,
  { ...model, from: "lg" },
  {
    id: "deleted",
    header: "Deleted",
    cell: ({ deleted_at }) => <Time value={deleted_at} />,
    align: "end",
    width: 120,
    from: "sm",
  },
  {
    id: "restorable",
    header: "Restorable until",
    cell: ({ restorable_until }) => <Time value={restorable_until} />,
    align: "end",
    width: 128,
  },
  {
    id: "restore",
    header: "Restore",
    headerHidden: true,
    isControl: true,
    cell: (agent) => <RestoreButton agent={agent} />,
    align: "end",
    width: 112,
  },
];
