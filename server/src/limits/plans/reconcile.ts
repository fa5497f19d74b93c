import { type Database, inAllWorkspaces } from "../../base/database/index.ts";
import { ConfigError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { countSpent } from "../budgets/index.ts";
import type { PlanSources } from "../services.ts";
import { applyPlansInBatches } from "./apply-plans.ts";
import type { OperatorPlans } from "./operator-plans.ts";
import { allowancesOf } from "./plan.ts";
import { listPlanRows, lockPlans } from "./store.ts";
import { findOutdatedWorkspaces, plansInUse } from "./workspace-plan-store.ts";

/**
 * At startup, sets the allowances of workspaces to those of their plans, and writes nothing for
 * workspaces that have them already. The operator's file can have changed since the last startup,
 * and a process can have exited before it had applied a changed plan of the database to all
 * workspaces. All processes must have the same file, because otherwise each would undo the changes
 * of the others. A workspace keeps its present allowances if its plan no longer exists; a planned
 * change remains.
 * @returns the ids of the workspaces in which a metric got a limit that had none. The caller must
 *   pass them to `LimitServices.limits.changed`.
 * @throws ConfigError if the file has a plan with the name of one in the database.
 */
export async function reconcilePlans(
  database: Database,
  sources: PlanSources,
  log: Pick<Log, "write">,
): Promise<readonly string[]> {
  const { operatorPlans, operatorWorkspaceId } = sources;
  const outdated = await inAllWorkspaces(database.tenant, async (tx) => {
    await lockPlans(tx);
    const rows = await listPlanRows(tx, operatorWorkspaceId);
    const created = rows.map(({ name }) => name);
    rejectSamePlanNames(operatorPlans, created);
    const names = new Set([...operatorPlans.keys(), ...created]);
    for (const name of (await plansInUse(tx)).filter((each) => !names.has(each)))
      log.write("workspaces are on a plan that does not exist; they keep its allowances", {
        plan: name,
      });
    const ofDatabase = rows.map((row) => [row.name, allowancesOf(row)] as const);
    return findOutdatedWorkspaces(tx, new Map([...operatorPlans, ...ofDatabase]));
  });
  const changed = new Set<string>();
  await applyPlansInBatches(database, sources, outdated, async (_workspaceIds, created) => {
    // Called after each transaction and not once at the end. If this startup fails later, the next
    // one does not find these workspaces outdated, and would not count what they have spent.
    await countSpent(database, created);
    for (const { workspaceId } of created) changed.add(workspaceId);
  });
  return [...changed];
}

/**
 * Compares the names of the plans in the operator's file with those of the plans in the database.
 * @throws ConfigError if a name is in both.
 */
export function rejectSamePlanNames(
  operatorPlans: OperatorPlans,
  created: readonly string[],
): void {
  const twice = created.find((name) => operatorPlans.has(name));
  if (twice !== undefined)
    throw new ConfigError(
      `BECKON_PLANS defines the plan ${twice}, and POST /api/public/plans created one of ` +
        "the same name. Choose another name in the file. To use the name in the file, start " +
        "without it, move the workspaces to another plan and delete the plan first.",
    );
}
