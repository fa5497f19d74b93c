import { isUsable } from "../base/database/index.ts";
import type { Services } from "./services.ts";

/** Starts that may wait for the database before this process says that it is full. */
const mostPending = 5_000;

/** Whether this process can take work now: it is not stopping, has capacity, and its database answers with our schema. */
export async function isReady({ database, runtime }: Pick<Services, "database" | "runtime">): Promise<boolean> {
  return !runtime.draining && !runtime.heap.isFull && runtime.starts.pending < mostPending && isUsable(database);
}
