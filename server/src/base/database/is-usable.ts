import { within } from "../clock.ts";
import type { Database } from "./connect.ts";

/** Probes must get a response within 3 s; this leaves time for a busy machine. */
const maxWaitMs = 1_500;

/**
 * With its own query timeout, since a connection that hangs must not be given to the next probe.
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
