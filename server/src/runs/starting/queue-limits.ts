import { elapsed } from "../../base/clock.ts";
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

/** Callers kept in mind; beyond that the oldest is forgotten. */
const maxCallers = 1_000;
const keptMs = 1_000;

/** Creates the cache of queue limits, each kept for a second. */
export function createQueueLimits(database: Database): QueueLimits {
  const known = new Map<string, { readonly limit: Promise<number | undefined>; readonly until: number }>();
  return {
    of(caller) {
      const name = `${callerId(caller.caller)} ${caller.agentId ?? ""}`;
      const kept = known.get(name);
      if (kept !== undefined && kept.until > elapsed()) return kept.limit;
      // The refusal stands without it.
      const limit = readQueueLimit(database, caller).catch(() => undefined);
      known.delete(name);
      known.set(name, { limit, until: elapsed() + keptMs });
      const oldest = known.size > maxCallers ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      return limit;
    },
  };
}
