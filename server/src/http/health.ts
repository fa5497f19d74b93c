import { isUsable } from "../base/database/index.ts";
import type { Services } from "./services.ts";

/** The process is not ready if at least this many starts of runs wait for the database. */
const maxPendingStarts = 5_000;

/**
 * Returns whether this process can take work: it is neither shutting down nor overloaded, its
 * writes succeed, and its database has the current schema. The check itself writes nothing. It
 * recognizes failing writes by the last renewal of the process's lease, and by a batch of starts or
 * journal entries that was retried several times.
 */
export async function isReady({
  database,
  runs,
}: Pick<Services, "database" | "runs">): Promise<boolean> {
  const { capacity, starts, appends, process, memory } = runs;
  if (capacity.isDrainAnnounced || starts.pending >= maxPendingStarts) return false;
  if (memory.heap.isFull || process.isLeaseFailing || starts.stalled || appends.stalled)
    return false;
  return isUsable(database);
}
