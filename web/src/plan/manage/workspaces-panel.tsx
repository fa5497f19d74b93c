import type { WorkspacePlan } from "@beckon/client";
import { useList, useWorkspace } from "../../data/index.ts";
import {
  Button,
  type Column,
  DataTable,
  EmptyState,
  Panel,
  Time,
  UserText,
} from "../../ui/index.ts";
import { workspacePlansQuery } from "../queries.ts";
import { WorkspacePlanForm } from "./workspace-plan-form.tsx";

interface WorkspacesPanelProps {
  /** The search parameters of the page, which name the open dialog. */
  readonly search: Readonly<Record<string, string | undefined>>;
  readonly show: (search: Readonly<Record<string, string>>) => void;
}

/** The plans of all workspaces, for the operator of the installation. */
export function WorkspacesPanel({ search, show }: WorkspacesPanelProps) {
  const workspaces = useList(workspacePlansQuery(useWorkspace()));
  const chosen = workspaces.rows.find(({ workspace_id }) => workspace_id === search.of);
  return (
    <Panel
      title="Plans of workspaces"
      description="All workspaces of this installation."
      padding="none"
    >
      <DataTable
        label="Plans of workspaces"
        columns={columnsFor(({ workspace_id }) => show({ of: workspace_id }))}
        rows={workspaces.rows}
        rowKey={({ workspace_id }) => workspace_id}
        loading={workspaces.isPending}
        error={workspaces.error}
        onRetry={workspaces.refetch}
        hasMore={workspaces.hasNextPage}
        loadingMore={workspaces.isFetchingNextPage}
        onLoadMore={() => void workspaces.fetchNextPage()}
        empty={<EmptyState>There is no workspace.</EmptyState>}
      />
      {chosen === undefined ? null : (
        <WorkspacePlanForm key={chosen.workspace_id} of={chosen} close={() => show({})} />
      )}
    </Panel>
  );
}

function columnsFor(onChange: (of: WorkspacePlan) => void): readonly Column<WorkspacePlan>[] {
  return [
    {
      id: "workspace",
      header: "Workspace",
      cell: ({ workspace_name }) => (
        <span className="font-semibold">
          <UserText text={workspace_name} />
        </span>
      ),
    },
    {
      id: "plan",
      header: "Plan",
      width: 144,
      cell: ({ plan }) => <bdi title={plan}>{plan}</bdi>,
    },
    {
      id: "next",
      header: "Next",
      width: 200,
      from: "md",
      cell: ({ next_plan }) =>
        next_plan === null ? (
          <span className="text-ink-3">–</span>
        ) : (
          <span className="inline-flex max-w-full min-w-0 gap-1">
            <bdi className="truncate">{next_plan.plan}</bdi>
            <Time value={next_plan.starts_at} />
          </span>
        ),
    },
    {
      id: "anchor",
      header: "Month begins",
      width: 120,
      from: "lg",
      align: "end",
      cell: ({ anchor_day }) => <span className="font-mono text-dense">{anchor_day}.</span>,
    },
    {
      id: "change",
      header: "Change",
      headerHidden: true,
      isControl: true,
      width: 104,
      align: "end",
      cell: (of) => (
        <span className="relative z-1">
          <Button
            size="small"
            aria-label={`Change the plan of ${of.workspace_name}`}
            onClick={() => onChange(of)}
          >
            Change
          </Button>
        </span>
      ),
    },
  ];
}
