import {
  apartIfLarge,
  type Database,
  type Gatherer,
  gather,
  type Turns,
} from "../../base/database/index.ts";
import { type AppendAnswer, type AppendRow, appendToRuns } from "./append-statement.ts";

/** Appends of all runs that execute in this process; those made at the same time share a commit. */
export type Appends = Gatherer<AppendRow, AppendAnswer>;

/**
 * @param turns shared with other batches on the same database.
 * @param onWritten called after each commit.
 */
export function createAppends(
  database: Database,
  { turns, onWritten }: { turns: Turns; onWritten: () => void },
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
  return apartIfLarge({
    bytes: bytesOf,
    maxSmallBytes: 1024 * 1024,
    small: gather({ ...appends, maxRows: 200, maxBytes: 8 * 1024 * 1024, turns }),
    // One at a time, beside the others: starts do not wait for them either.
    large: gather({ ...appends, maxRows: 1, maxBytes: 1 }),
  });
}

function bytesOf({ entries, end }: AppendRow): number {
  return entries.reduce(
    (sum, entry) => sum + entry.data.length + (entry.artifact?.content.length ?? 0),
    end?.output?.length ?? 0,
  );
}
