import { within } from "../clock.ts";
import type { Database } from "./connect.ts";

/**
 * A health check must get a response within 3 s. The query can take half of that, so that the
 * response is in time even on a busy machine.
 */
const maxWaitMs = 1_500;

/**
 * If the query hangs, its timeout makes the pool discard the connection, so the next health check
 * gets another one.
 */
const probe = { text: "select from installation", query_timeout: maxWaitMs };

const pending = new WeakMap<Database, Promise<boolean>>();

/**
 * Returns whether the database responds in time and has our schema. Concurrent calls share one
 * query. The query uses the engine's pool and not a connection of its own, because a process whose
 * pool hangs cannot start runs and must not be reported as healthy.
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
