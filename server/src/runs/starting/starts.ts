import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
} from "../../base/database/index.ts";
import type { KnownSubscriptions } from "../../events/index.ts";
import { contentBytes, type StartResult, type StartRow } from "./start-row.ts";
import { startRuns } from "./start-runs.ts";

/**
 * The batcher of requests to start runs. Up to 200 requests that arrive at this process at the same
 * time share one statement and one commit.
 */
export type Starts = Batcher<StartRow, StartResult>;

interface StartsOptions {
  /** Batchers with the same mutex write one after the other. */
  readonly mutex: Mutex;
  readonly subscriptions: KnownSubscriptions;
  /** Called after each commit. */
  readonly onWritten: () => void;
  /**
   * Returns the workspaces whose runs wait for memory in this process. New runs of these workspaces
   * are queued.
   */
  readonly full: () => readonly string[];
}

/** Creates the batcher of the start statement. */
export function createStarts(
  database: Database,
  { mutex, subscriptions, onWritten, full }: StartsOptions,
): Starts {
  return createBatcher({
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
    mutex,
  });
}
