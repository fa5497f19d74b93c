import { isUsable } from "../base/database/index.ts";
import type { Services } from "./services.ts";

/** Starts that may wait for the database before this process says that it is full. */
const maxPending = 5_000;

/**
 * Whether this process can take work now: it is not stopping, has capacity, its writes go through, and its database answers with
 * our schema. A probe writes nothing itself: what says that writes go through again are the lease, which is renewed in any case,
 * and a batch that failed, which is tried until it is written.
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
