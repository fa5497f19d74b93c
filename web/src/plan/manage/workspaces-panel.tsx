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
  useMedia,
  useOpenedRow,
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
  const isNarrow = !useMedia("(min-width: 768px)");
  const listed = workspaces.rows.find(({ workspace_id }) => workspace_id === search.of);
  const chosen = useOpenedRow(search.of, listed);
  return (
    <Panel
      title="Plans of workspaces"
      description="All workspaces of this installation."
      padding="none"
    >
      <DataTable
        label="Plans of workspaces"
        density={isNarrow ? "double" : "normal"}
        columns={columnsFor(({ workspace_id }) => show({ of: workspace_id }), isNarrow)}
        rows={workspaces.rows}
        rowKey={({ workspace_id }) => workspace_id}
        query={workspaces}
        empty={<EmptyState>There is no workspace.</EmptyState>}
      />
      {chosen === undefined ? null : (
        <WorkspacePlanForm key={chosen.workspace_id} of={chosen} close={() => show({})} />
      )}
    </Panel>
  );
}

function columnsFor(
  onChange: (of: WorkspacePlan) => void,
  isNarrow: boolean,
): readonly Column<WorkspacePlan>[] {
  const workspace: Column<WorkspacePlan> = {
    id: "workspace",
    header: "Workspace",
    cell: ({ workspace_name, plan, next_plan }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate font-semibold">
          <UserText text={workspace_name} />
        </span>
        {isNarrow ? (
          <span className="truncate text-dense text-ink-2">
            <bdi>{plan}</bdi>
            {next_plan === null ? null : (
              <>
                {", then "}
                <bdi>{next_plan.plan}</bdi>
              </>
            )}
          </span>
        ) : null}
      </span>
    ),
  };
  const change: Column<WorkspacePlan> = {
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
  };
  if (isNarrow) return [workspace, change];
  return [
    workspace,
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
      cell: ({ anchor_day }) => `Day ${anchor_day}`,
    },
    change,
  ];
}
