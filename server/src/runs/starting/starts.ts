import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
} from "../../base/database/index.ts";
import type { StartAnswer, StartRow } from "./start-row.ts";
import { startRuns } from "./start-runs.ts";

/** Starts of all callers of this process; those that arrive at the same time share a commit. */
export type Starts = Batcher<StartRow, StartAnswer>;

interface StartsOptions {
  /** Shared with other batches on the same database. */
  readonly mutex: Mutex;
  /** Called after each commit. */
  readonly onWritten: () => void;
  /** Workspaces whose runs wait for memory in this process: their new ones are queued. */
  readonly full: () => readonly string[];
}

/** Creates the batcher of the start statement. */
export function createStarts(
  database: Database,
  { mutex, onWritten, full }: StartsOptions,
): Starts {
  return createBatcher({
    write: async (rows, { repeated }) => {
      const answers = await startRuns(database, rows, { repeated, full: full() });
      onWritten();
      return answers;
    },
    order: (row) => `${row.agentId ?? ""} ${row.key ?? ""}`,
    bytes: (row) => row.payload.length,
    maxRows: 200,
    maxBytes: 8 * 1024 * 1024,
    mutex,
  });
}
