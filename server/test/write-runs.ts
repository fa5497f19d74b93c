import type { Database } from "../src/base/database/index.ts";
import { KnownSubscriptions } from "../src/events/index.ts";
import type { AppendRow } from "../src/runs/journal/append-row.ts";
import {
  appendToRuns as append,
  appendUncharged as appendWithoutCharge,
} from "../src/runs/journal/append-statement.ts";
import type { StartRow } from "../src/runs/starting/start-row.ts";
import { startRuns as start } from "../src/runs/starting/start-runs.ts";

/**
 * Starts runs. Unless the options say otherwise, an earlier call may have written some of the rows,
 * no run waits for memory, and no subscription is known.
 */
export function startRuns(
  database: Database,
  rows: readonly StartRow[],
  options: Partial<Parameters<typeof start>[2]> = {},
) {
  const subscriptions = new KnownSubscriptions();
  return start(database, rows, { resent: true, queuedIds: [], subscriptions, ...options });
}

type AppendOptions = Partial<Parameters<typeof append>[2]>;

/** Unless the options say otherwise, no subscription is known. */
const toAppendOptions = (options: AppendOptions) => ({
  subscriptions: new KnownSubscriptions(),
  onReturned() {},
  ...options,
});

/** Appends to runs, and adds what the runs used to budgets. */
export function appendToRuns(
  database: Database,
  rows: readonly AppendRow[],
  options: AppendOptions = {},
) {
  return append(database, rows, toAppendOptions(options));
}

/** Appends to the runs of workspaces without budgets. */
export function appendUncharged(
  database: Database,
  rows: readonly AppendRow[],
  options: AppendOptions = {},
) {
  return appendWithoutCharge(database, rows, toAppendOptions(options));
}
