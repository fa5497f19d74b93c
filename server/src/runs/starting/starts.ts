import {
  type Batcher,
  boundedTurn,
  createBatcher,
  type Database,
  type Mutex,
} from "../../base/database/index.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import { contentBytes, type StartResult, type StartRow } from "./start-row.ts";
import { startRuns } from "./start-runs.ts";

/**
 * The batcher of requests to start runs. Up to 200 requests that arrive at this process at the same
 * time share one statement and one commit. Requests that reserve their run's first model call share
 * statements only with each other, and so do requests with large bodies.
 */
export type Starts = Batcher<StartRow, StartResult>;

interface StartsOptions {
  /**
   * Shared with the appends that lock no rows of `budgets`. Batchers with one mutex write in turns,
   * which makes their batches larger and each row cheaper.
   */
  readonly mutex: Mutex;
  /**
   * Shared with the reservations and appends that lock rows of `budgets`. They write in turns,
   * which makes their batches larger.
   */
  readonly budgetMutex: Mutex;
  readonly subscriptions: KnownSubscriptions;
  /** Called after each commit. */
  readonly onWritten: () => void;
  /**
   * Ids of the workspaces and agents whose runs wait in this process, for memory or for a limit.
   * New runs of these are queued.
   */
  readonly queuedIds: () => readonly string[];
}

/**
 * Maximum bytes of the body and files of a request that shares batches with other requests. Larger
 * requests would delay them, and have batches of their own.
 */
const maxSmallBodyBytes = 1_048_576;

/**
 * Maximum time that a batch of starts that reserve waits for its turn on `budgetMutex`. After that
 * it is sent without a turn, because the statement before it may be waiting for budgets that
 * another process has locked.
 */
const maxTurnMs = 200;

/** Creates the batcher of the start statement. */
export function createStarts(
  database: Database,
  { mutex, budgetMutex, subscriptions, onWritten, queuedIds }: StartsOptions,
): Starts {
  const create = (turns?: Mutex) =>
    createBatcher<StartRow, StartResult>({
      write: async (rows, { resent }) => {
        const results = await startRuns(database, rows, {
          resent,
          queuedIds: queuedIds(),
          subscriptions,
        });
        onWritten();
        return results;
      },
      order: ({ agentId, key, received, senderEvent }) =>
        `${agentId ?? ""} ${key ?? ""} ${(received ?? senderEvent)?.eventId ?? ""}`,
      bytes: (row) =>
        row.payload.length + (row.details?.draft?.config.length ?? 0) + contentBytes(row),
      maxRows: 200,
      maxBytes: 8 * 1024 * 1024,
      ...(turns === undefined ? {} : { mutex: turns }),
    });
  const [plain, reserving, large] = [
    create(mutex),
    create(boundedTurn(budgetMutex, maxTurnMs)),
    create(),
  ];
  const all = [plain, reserving, large];
  return {
    submit(row, options) {
      if (contentBytes(row) > maxSmallBodyBytes) return large.submit(row, options);
      return (row.firstCallAmounts === undefined ? plain : reserving).submit(row, options);
    },
    get pending() {
      return all.reduce((sum, { pending }) => sum + pending, 0);
    },
    get stalled() {
      return all.some(({ stalled }) => stalled);
    },
  };
}
