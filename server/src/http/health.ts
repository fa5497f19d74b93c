import { isUsable } from "../base/database/index.ts";
import type { Services } from "./services.ts";

/** Starts that can wait for the database before the process reports that it is full. */
const maxPending = 5_000;

/**
 * Whether this process can take work: it is not stopping, has capacity, its writes succeed, and its
 * database has the current schema. The probe writes nothing: the renewal of the lease and the
 * retries of a failed batch show when writes succeed again.
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
