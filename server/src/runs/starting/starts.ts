import {
  type Batcher,
  boundedTurn,
  createBatcher,
  createMutex,
  type Database,
  type Mutex,
} from "../../base/database/index.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import { contentBytes, type StartResult, type StartRow } from "./start-row.ts";
import { startRuns } from "./start-runs.ts";

/**
 * The batcher of requests to start runs. Up to 200 requests that arrive at this process at the same
 * time share one statement and one commit. Requests that check limits share statements only with
 * each other, and so do requests with large bodies.
 */
export type Starts = Batcher<StartRow, StartResult>;

interface StartsOptions {
  /** Shared by the starts and the appends that lock no budgets: they write in turns. */
  readonly mutex: Mutex;
  /** Shared by the statements for workspaces with limits: they write in turns. */
  readonly budgetMutex: Mutex;
  readonly subscriptions: KnownSubscriptions;
  /** Called after each commit. */
  readonly onWritten: () => void;
  /**
   * Returns the workspaces whose runs wait for memory in this process. New runs of these workspaces
   * are queued.
   */
  readonly full: () => readonly string[];
}

/**
 * Returns whether a request would delay the others in a batch, because its body and files have more
 * than 1 MiB.
 */
export function isLarge(row: Parameters<typeof contentBytes>[0]): boolean {
  return contentBytes(row) > 1_048_576;
}

/**
 * How long starts wait for their turn among the statements that lock budgets. An append or a
 * reservation can wait for a budget that another process has locked; starts wait for no budget, and
 * must not wait for these statements either.
 */
const maxTurnMs = 200;

/** Creates the batcher of the start statement. */
export function createStarts(
  database: Database,
  { mutex, budgetMutex, subscriptions, onWritten, full }: StartsOptions,
): Starts {
  const create = (own: Mutex) =>
    createBatcher<StartRow, StartResult>({
      write: async (rows, { repeated }) => {
        const results = await startRuns(database, rows, {
          repeated,
          full: full(),
          subscriptions,
        });
        onWritten();
        return results;
      },
      order: ({ agentId, key, received }) =>
        `${agentId ?? ""} ${key ?? ""} ${received?.eventId ?? ""}`,
      bytes: (row) =>
        row.payload.length + (row.details?.draft?.config.length ?? 0) + contentBytes(row),
      maxRows: 200,
      maxBytes: 8 * 1024 * 1024,
      mutex: own,
    });
  const [plain, limited, large] = [
    create(mutex),
    create(boundedTurn(budgetMutex, maxTurnMs)),
    create(createMutex()),
  ];
  const all = [plain, limited, large];
  return {
    submit(row, options) {
      if (isLarge(row)) return large.submit(row, options);
      return (row.checksLimits === true ? limited : plain).submit(row, options);
    },
    get pending() {
      return all.reduce((sum, { pending }) => sum + pending, 0);
    },
    get stalled() {
      return all.some(({ stalled }) => stalled);
    },
  };
}
