import {
  type Batcher,
  createBatcher,
  type Database,
  type Mutex,
  separateLargeRows,
} from "../../base/database/index.ts";
import { type AppendAnswer, type AppendRow, appendToRuns } from "./append-statement.ts";

/** Appends of all runs that execute in this process; those made at the same time share a commit. */
export type Appends = Batcher<AppendRow, AppendAnswer>;

/**
 * @param turns shared with other batches on the same database.
 * @param onWritten called after each commit.
 */
export function createAppends(
  database: Database,
  { mutex, onWritten }: { mutex: Mutex; onWritten: () => void },
): Appends {
  const appends = {
    write: async (rows: readonly AppendRow[]) => {
      const answers = await appendToRuns(database, rows);
      onWritten();
      return answers;
    },
    order: (row: AppendRow) => row.runId,
    bytes: bytesOf,
  };
  return separateLargeRows({
    bytes: bytesOf,
    maxSmallBytes: 1024 * 1024,
    small: createBatcher({ ...appends, maxRows: 200, maxBytes: 8 * 1024 * 1024, mutex }),
    // One at a time, beside the others: starts do not wait for them either.
    large: createBatcher({ ...appends, maxRows: 1, maxBytes: 1 }),
  });
}

function bytesOf({ entries, end }: AppendRow): number {
  return entries.reduce(
    (sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0),
    end?.output?.length ?? 0,
  );
}
