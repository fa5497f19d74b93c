import { LRUCache } from "lru-cache";
import type { Database } from "../../base/database/index.ts";
import { readQueueLimit } from "./queue-limit-store.ts";
import { callerId, type StartRow } from "./start-row.ts";

type Caller = Pick<StartRow, "caller" | "agentId">;

/**
 * How many runs an agent may have queued, for who is told that there are as many. The gate need not say it, since nobody else wants to know;
 * and however many are refused, the database is asked once a second for each caller.
 */
export interface QueueLimits {
  /** undefined: it cannot be known at the moment. */
  of(caller: Caller): Promise<number | undefined>;
}

/** Callers remembered at once. */
const maxCallers = 1_000;
const keptMs = 1_000;

/** Creates the cache of queue limits, each kept for a second. */
export function createQueueLimits(database: Database): QueueLimits {
  const known = new LRUCache<string, Promise<number | undefined>>({ max: maxCallers, ttl: keptMs });
  return {
    of(caller) {
      const name = `${callerId(caller.caller)} ${caller.agentId ?? ""}`;
      const kept = known.get(name);
      if (kept !== undefined) return kept;
      // The refusal stands without it.
      const limit = readQueueLimit(database, caller).catch(() => undefined);
      known.set(name, limit);
      return limit;
    },
  };
}
