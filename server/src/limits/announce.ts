import type { Database } from "../base/database/index.ts";
import { type BudgetKey, countSpent } from "./budgets/index.ts";
import type { LimitServices } from "./services.ts";

/**
 * Tells the runs of all processes that limits of these workspaces have changed, and sets the exact
 * amount spent of those that are new. Call it after the transaction that changed them has
 * committed.
 * @param created the budgets that are new.
 */
export async function announceLimits(
  {
    database,
    limits,
  }: {
    readonly database: Pick<Database, "tenant">;
    readonly limits: Pick<LimitServices["limits"], "changed">;
  },
  workspaceIds: readonly string[],
  created: readonly BudgetKey[],
): Promise<void> {
  // At once: `countSpent` waits for open transactions, and can fail. Until runs are told, they can
  // repeat failed attempts without regard to a new limit.
  limits.changed(workspaceIds);
  if (created.length === 0) return;
  await countSpent(database, created);
  // What runs have reserved meanwhile was compared with an amount that may have been too low.
  limits.changed(workspaceIds);
}
