import type { Database } from "../base/database/index.ts";
import { countSpent, type NewBudget } from "./budgets/index.ts";
import type { LimitServices } from "./services.ts";

/**
 * Notifies the runs of all processes that limits of these workspaces have changed, and sets the
 * exact amount spent of new budgets. Call it after the transaction that changed the limits has
 * committed.
 * @param created the new budgets.
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
  created: readonly NewBudget[],
): Promise<void> {
  // This message is sent before `countSpent`, because `countSpent` waits for open transactions and
  // can fail. Until a run gets the message, it can repeat a failed attempt without checking the new
  // limit.
  limits.changed(workspaceIds);
  if (created.length === 0) return;
  await countSpent(database, created);
  // During `countSpent`, runs may have reserved more than is left, because the stored amount spent
  // was too low. This message makes them reserve again before their next attempt.
  limits.changed(workspaceIds);
}
