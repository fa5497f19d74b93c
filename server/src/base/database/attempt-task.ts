import { messageOf, stackOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { outageOf } from "./in-workspace.ts";

/**
 * Runs a background task that its caller repeats. Returns the result; undefined if the task failed.
 * A failure is logged: as an outage of the database if `outageOf` finds one, else with the name
 * `task`. During an outage all tasks fail. `log.outages` then writes about one line a minute, not
 * one for each failure.
 */
export async function attemptTask<T>(
  log: Log,
  task: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const result = await act();
    log.outages.database.succeeded();
    return result;
  } catch (thrown) {
    const outage = outageOf(thrown);
    if (outage !== undefined) log.outages.database.failed(outage);
    else
      log.write("a background task failed; it will be retried", {
        task,
        reason: messageOf(thrown),
        stack: stackOf(thrown),
      });
    return undefined;
  }
}
