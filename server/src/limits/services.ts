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
     * Notifies the runs of these workspaces, in all processes, that limits have changed: they
     * request a reservation before their next attempt, and those that are held or wait for a limit
     * try again.
     */
    changed(workspaceIds: readonly string[]): void;
    /** Queues held runs that can start, in all workspaces. Called after an agent was resumed. */
    releaseHeld(): void;
  };
}
