import { within } from "../clock.ts";
import type { Database } from "./connect.ts";

/**
 * Health checks must be answered within 3 s. The query can take half of that, so that the response
 * is on time on a busy machine too.
 */
const maxWaitMs = 1_500;

/**
 * The query timeout makes the pool discard a connection that hangs before the next health check.
 */
const probe = { text: "select from installation", query_timeout: maxWaitMs };

const pending = new WeakMap<Database, Promise<boolean>>();

/**
 * Returns whether the database responds in time and has our schema. Concurrent calls share one
 * query. It uses the engine's pool and no connection of its own: a process whose pool hangs cannot
 * start runs.
 */
export function isUsable(database: Database): Promise<boolean> {
  let result = pending.get(database);
  if (result === undefined) {
    result = runProbe(database).finally(() => pending.delete(database));
    pending.set(database, result);
  }
  return result;
}

async function runProbe({ engine }: Database): Promise<boolean> {
  try {
    await within(
      engine.query(probe),
      maxWaitMs,
      () => new Error("the database did not respond in time"),
    );
    return true;
  } catch {
    return false;
  }
}
