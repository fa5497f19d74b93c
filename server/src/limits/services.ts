import type { Allowances } from "@beckon/contract";

/** Where plans are defined. */
export interface PlanSources {
  /** The plans in the operator's file, by name. */
  readonly operatorPlans: ReadonlyMap<string, Allowances>;
  /** Id of the workspace `default`, whose owners manage plans. */
  readonly operatorWorkspaceId: string;
}

/** The services that operations on limits need. */
export interface LimitServices {
  readonly limits: PlanSources & {
    /**
     * Lets runs of these workspaces that are held or wait for a limit try again, in all processes.
     * Called after limits have changed or an agent was resumed.
     */
    changed(workspaceIds: readonly string[]): void;
  };
}
