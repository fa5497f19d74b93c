import { LRUCache } from "lru-cache";
import type { Database } from "../../base/database/index.ts";
import { readQueueLimit } from "./queue-limit-store.ts";
import { callerId, type StartRow } from "./start-row.ts";

/**
 * Cache of the agents' queue limits, which error responses contain. The statement that starts runs
 * does not return the limit, since only rejected callers need it. For each caller and agent the
 * database is queried at most once a second, even if many requests are rejected.
 */
export interface QueueLimits {
  /** Returns the queue limit; undefined if it cannot be read at the moment. */
  of(start: Pick<StartRow, "caller" | "agentId">): Promise<number | undefined>;
}

const maxCallers = 1_000;
const ttlMs = 1_000;

/** Creates the cache of queue limits. */
export function createQueueLimits(database: Database): QueueLimits {
  const cache = new LRUCache<string, Promise<number | undefined>>({ max: maxCallers, ttl: ttlMs });
  return {
    of({ caller, agentId }) {
      const key = `${callerId(caller)} ${agentId ?? ""}`;
      const cached = cache.get(key);
      if (cached !== undefined) return cached;
      // If the limit cannot be read, the error response omits it. The response is correct without
      // it.
      const limit = readQueueLimit(database, { caller, agentId }).catch(() => undefined);
      cache.set(key, limit);
      return limit;
    },
  };
}
