import { type Database, inAllWorkspaces, inWorkspace } from "../base/database/index.ts";
import { announceLimits } from "./announce.ts";
import { correctFuturePeriods, findFuturePeriods } from "./budgets/index.ts";
import type { LimitServices } from "./services.ts";

/**
 * Corrects limits whose period begins in the future, because the database's clock was ahead for a
 * moment. Otherwise they would not be reset before the clock reaches the end of this period. Each
 * workspace has a transaction of its own, because it can have to sum up a month of usage while the
 * charges of its runs wait. If one fails, the others are corrected all the same.
 * @param stopping Aborts when the process stops. The other workspaces then stay as they are.
 * @throws the first error, after all workspaces
 */
export async function correctPeriods(
  database: Pick<Database, "tenant">,
  limits: Pick<LimitServices["limits"], "changed">,
  stopping: AbortSignal,
): Promise<void> {
  const { tenant } = database;
  const failures: unknown[] = [];
  for (const workspaceId of await inAllWorkspaces(tenant, findFuturePeriods)) {
    if (stopping.aborted) break;
    try {
      await inWorkspace(tenant, workspaceId, (tx) => correctFuturePeriods(tx, workspaceId));
      await announceLimits({ database, limits }, [workspaceId], []);
    } catch (thrown) {
      failures.push(thrown);
    }
  }
  if (failures.length > 0) throw failures[0];
}
