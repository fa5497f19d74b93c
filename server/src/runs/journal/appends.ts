import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
  separateLargeRows,
} from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import { withKnownTimeZones } from "../../usage/index.ts";
import { type AppendResult, type AppendRow, endOf } from "./append-row.ts";
import { appendToRuns, appendUncharged, type Limited } from "./append-statement.ts";

/**
 * The batcher of appends to journals. Up to 200 appends that runs of this process make at the same
 * time share one statement and one commit. Appends that hold a run, and those of workspaces that
 * have limits, share statements only with each other. An append of more than 1 MiB has its own
 * statement.
 */
export interface Appends extends Pick<Batcher<AppendRow, AppendResult>, "pending" | "stalled"> {
  submit(row: AppendRow): Promise<AppendResult>;
}

interface AppendsOptions {
  /**
   * Shared with the starts of runs that lock no rows of `budgets`. Batchers with one mutex write in
   * turns, which makes their batches larger and each row cheaper.
   */
  readonly mutex: Mutex;
  /**
   * Shared with the reservations and starts that lock rows of `budgets`. They write in turns, which
   * makes their batches larger.
   */
  readonly budgetMutex: Mutex;
  readonly reservations: Pick<Reservations, "isLimited" | "noteLimited" | "holds">;
  readonly subscriptions: KnownSubscriptions;
  readonly log: Pick<Log, "write">;
  /** Called after each commit. */
  readonly onWritten: () => void;
  /**
   * Called after a commit that returned reserved money or usage to limits. `workspaceIds` are the
   * workspaces of these limits: runs there may wait for what was returned.
   */
  readonly onReturned: (workspaceIds: readonly string[]) => void;
}

/**
 * Creates the batcher of appends. An append of a workspace with limits locks rows of `budgets`, and
 * may have to wait for these locks. Such appends have inner batchers of their own, so that they do
 * not delay the appends of workspaces without limits.
 */
export function createAppends(
  database: Database,
  { mutex, budgetMutex, reservations, subscriptions, log, onWritten, onReturned }: AppendsOptions,
): Appends {
  const create = <Result extends AppendResult | Limited>(
    append: (...args: Parameters<typeof appendToRuns>) => Promise<Result[]>,
    smallMutex: Mutex,
  ) => {
    const appends = {
      write: async (rows: readonly AppendRow[]) => {
        const results = await withKnownTimeZones({ database, log }, () =>
          append(database, rows, { subscriptions, onReturned }),
        );
        onWritten();
        return results;
      },
      order: (row: AppendRow) => row.runId,
      bytes: bytesOf,
    };
    return separateLargeRows({
      bytes: bytesOf,
      maxSmallBytes: 1024 * 1024,
      small: createBatcher({
        ...appends,
        maxRows: 200,
        maxBytes: 8 * 1024 * 1024,
        mutex: smallMutex,
      }),
      // Large appends are written one at a time and do not use the mutex, so that neither small
      // appends nor starts of runs wait until their contents are inserted. If a large append locks
      // rows of `budgets`, appends that need the same rows wait for its commit.
      large: createBatcher({ ...appends, maxRows: 1, maxBytes: 1 }),
    });
  };
  const plain = create(appendUncharged, mutex);
  const charged = create(appendToRuns, budgetMutex);
  return {
    async submit(row) {
      const { runId, workspaceId } = row;
      // The limit that holds a run can be deleted meanwhile. Only `charged` resets the times of a
      // held run and ends its reservation.
      const isHeld = row.transition === "waiting";
      if (!isHeld && !reservations.isLimited(workspaceId) && !reservations.holds(runId)) {
        const result = await plain.submit(row);
        if (result.kind !== "limited") return result;
        reservations.noteLimited(workspaceId, true);
      }
      return charged.submit(row);
    },
    get pending() {
      return plain.pending + charged.pending;
    },
    get stalled() {
      return plain.stalled || charged.stalled;
    },
  };
}

function bytesOf(row: AppendRow): number {
  return row.entries.reduce(
    (sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0),
    endOf(row)?.output?.length ?? 0,
  );
}
