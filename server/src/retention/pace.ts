import { elapsed } from "../base/clock.ts";
import type { Retention } from "../base/retention/index.ts";
import type { Batch, Queryable } from "./kinds.ts";
import { countCreatedRows } from "./pass-store.ts";

/** Returns the milliseconds to pause after a batch. */
export type Pace = (deleted: Batch["deleted"]) => number | Promise<number>;

/** Minimum number of runs that are deleted per second. It applies while few runs are created. */
export const minRunsPerSecond = 200;
/** How much faster rows are deleted than they are created, so that deleting keeps up. */
const timesCreated = 2;
/** Cost of deleting a row that is not part of a run; the cost of a run with its rows is 1. */
const costOfRow = 0.25;
/** Tables, apart from those of runs, to which requests and runs add rows that are deleted later. */
const otherTables = [
  "deliveries",
  "received_requests",
  "request_counts",
  "trigger_event_ids",
  "idempotency",
];
/** Milliseconds between two measurements of how many rows are created. */
const measureEveryMs = 10_000;

/** Returns a pace that depends on how many rows all processes create. */
export function createPace(
  connection: Queryable,
  { usageDays }: Pick<Retention, "usageDays">,
): Pace {
  const counted = usageDays === 0 ? otherTables : [...otherTables, "usage_entries"];
  let measuredAt = Number.NEGATIVE_INFINITY;
  let created = { runs: 0, others: 0 };
  let perSecond = minRunsPerSecond;

  async function measure(): Promise<void> {
    const before = created;
    const seconds = (elapsed() - measuredAt) / 1_000;
    measuredAt = elapsed();
    created = await countCreatedRows(connection, counted);
    // The first measurement has no earlier one to compare with: its interval counts as infinite, so
    // the rates are 0.
    const runs = (created.runs - before.runs) / seconds;
    const others = (created.others - before.others) / seconds;
    perSecond = Math.max(minRunsPerSecond, timesCreated * (runs + costOfRow * others));
  }

  return async ({ runs = 0, events: _events, artifacts: _artifacts, ...others }) => {
    if (elapsed() - measuredAt >= measureEveryMs) await measure();
    const otherRows = Object.values(others).reduce((sum, rows) => sum + rows, 0);
    return ((runs + costOfRow * otherRows) / perSecond) * 1_000;
  };
}
