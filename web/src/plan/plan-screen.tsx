import { useSearch } from "@tanstack/react-router";
import { defaultWorkspaceId, useWorkspace } from "../data/index.ts";
import { CeilingsPanel } from "../limits/index.ts";
import { PageHeader, useShowDialog } from "../ui/index.ts";
import { PlansPanel } from "./manage/plans-panel.tsx";
import { WorkspacesPanel } from "./manage/workspaces-panel.tsx";
import { PlanPanel } from "./plan-panel.tsx";

/** The limits of the workspace: its plan (monthly), and its ceilings (daily, in money). */
export function PlanScreen() {
  const { id, can } = useWorkspace();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const show = useShowDialog();
  const isOperator = id === defaultWorkspaceId && can("plans:write");
  return (
    <div className="flex min-w-0 flex-col">
      <title>Plan · Beckon</title>
      <PageHeader title="Plan and ceilings">
        <p className="text-ink-2">
          Limits of what runs use. A run that reaches one ends, and no further run starts until the
          limit resets or is raised.
        </p>
      </PageHeader>
      <div className="flex min-w-0 flex-col gap-6 p-4 md:p-6">
        <PlanPanel />
        <CeilingsPanel />
        {isOperator ? (
          <>
            <PlansPanel search={search} show={show} />
            <WorkspacesPanel search={search} show={show} />
          </>
        ) : null}
      </div>
    </div>
  );
}
