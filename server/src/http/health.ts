import { isUsable } from "../base/database/index.ts";
import type { Services } from "./services.ts";

/** The process is not ready if at least this many starts of runs wait for the database. */
const maxPending = 5_000;

/**
 * Returns whether this process can take work: it is neither shutting down nor overloaded, its
 * writes succeed, and its database has the current schema. The check itself writes nothing. Whether
 * writes succeed shows in the renewal of the process's lease, and in the batches of starts and
 * journal entries: a batch that fails is retried.
 */
export async function isReady({
  database,
  runs,
}: Pick<Services, "database" | "runs">): Promise<boolean> {
  const { capacity, starts, appends, process, memory } = runs;
  if (capacity.isDraining || starts.pending >= maxPending) return false;
  if (memory.heap.isFull || process.isLeaseFailing || starts.stalled || appends.stalled)
    return false;
  return isUsable(database);
}
