import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
  separateLargeRows,
} from "../../base/database/index.ts";
import { type AppendResult, type AppendRow, appendToRuns } from "./append-statement.ts";

/**
 * The batcher of appends to journals. Appends that runs of this process make at the same time share
 * one statement and one commit.
 */
export type Appends = Batcher<AppendRow, AppendResult>;

/**
 * Creates the batcher of appends.
 * @param mutex the mutex that all batchers on this database share.
 * @param onWritten called after each commit.
 */
export function createAppends(
  database: Database,
  { mutex, onWritten }: { mutex: Mutex; onWritten: () => void },
): Appends {
  const appends = {
    write: async (rows: readonly AppendRow[]) => {
      const results = await appendToRuns(database, rows);
      onWritten();
      return results;
    },
    order: (row: AppendRow) => row.runId,
    bytes: bytesOf,
  };
  return separateLargeRows({
    bytes: bytesOf,
    maxSmallBytes: 1024 * 1024,
    small: createBatcher({ ...appends, maxRows: 200, maxBytes: 8 * 1024 * 1024, mutex }),
    // Large appends are written one at a time and do not use the mutex, so that neither small
    // appends nor starts of runs wait for them.
    large: createBatcher({ ...appends, maxRows: 1, maxBytes: 1 }),
  });
}

function bytesOf({ entries, end }: AppendRow): number {
  return entries.reduce(
    (sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0),
    end?.output?.length ?? 0,
  );
}
