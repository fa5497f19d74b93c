import { elapsed, sleep } from "../../base/clock.ts";
import { type Database, inAllWorkspaces } from "../../base/database/index.ts";
import {
  addLaterEntries,
  lockBudgets,
  type NewBudget,
  openTransactions,
  writeThresholds,
} from "./budget-store.ts";

/**
 * Maximum time to wait for open transactions: the statement timeout of `connect.ts` plus a second.
 * All statements that began before the wait have ended by then.
 */
const maxWaitMs = 21_000;
const pollIntervalMs = 10;

/**
 * Sets the exact amount spent of new budgets, and writes the events for the percentages of their
 * limits that this amount reaches. Call it after the transaction that inserted the budgets has
 * committed. A statement that began before that commit does not see the budgets: it adds its
 * entries to the ledger, but not to `spent`. This function waits until all these statements have
 * ended, and then sums up the entries since the budgets were inserted. Statements that began later
 * add to `spent` themselves. If this function fails or the process exits, the entries of the
 * earlier statements stay missing in `spent` until the budget's period ends.
 *
 * It would not be enough to wait until all transactions with lower ids have ended, as readers of
 * the event stream do: a statement takes its snapshot before it gets an id, so a statement with a
 * higher id can have an older snapshot.
 */
export async function countSpent(
  database: Pick<Database, "tenant">,
  created: readonly NewBudget[],
): Promise<void> {
  if (created.length === 0) return;
  await earlierTransactionsEnded(database);
  await inAllWorkspaces(database.tenant, async (tx) => {
    await lockBudgets(tx, created);
    await addLaterEntries(tx, created);
    await writeThresholds(tx, created);
  });
}

async function earlierTransactionsEnded({ tenant }: Pick<Database, "tenant">): Promise<void> {
  const began = elapsed();
  const read = () => inAllWorkspaces(tenant, openTransactions);
  let earlier = await read();
  while (earlier.length > 0 && elapsed() - began < maxWaitMs) {
    await sleep(pollIntervalMs);
    const open = new Set(await read());
    earlier = earlier.filter((id) => open.has(id));
  }
}
