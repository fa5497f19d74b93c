import type { EventOnWire } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import { readSomeEvents } from "../journal/index.ts";
import type { RunRef } from "../run.ts";

/**
 * Reads journals for streams, a few events at a time. All subscribers of a run are woken together
 * and read the same events, so they share one query and its result. A read that is requested after
 * the query was sent gets a query of its own: its subscriber may have been woken for an event that
 * was committed after the first query read the journal.
 */
export interface SharedReads {
  read(run: RunRef, after: number): Promise<readonly EventOnWire[]>;
}

/**
 * Maximum number of concurrent queries. It keeps connections free for writes even if hundreds of
 * readers request events at the same time.
 */
const maxQueries = 4;

/** Creates the shared reads of this process. */
export function createSharedReads(database: Database): SharedReads {
  const unsent = new Map<
    string,
    { readonly found: Promise<readonly EventOnWire[]>; readonly send: () => Promise<void> }
  >();
  let sending = 0;

  async function send(): Promise<void> {
    sending++;
    // Waits until all subscribers that were woken together have requested their reads.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (const [key, query] of unsent) {
      unsent.delete(key);
      await query.send();
    }
    sending--;
  }

  return {
    read(run, after) {
      const key = `${run.workspaceId} ${run.runId} ${after}`;
      const existing = unsent.get(key);
      if (existing !== undefined) return existing.found;
      const { promise: found, resolve, reject } = Promise.withResolvers<readonly EventOnWire[]>();
      unsent.set(key, {
        found,
        send: () => readSomeEvents(database, run, after).then(resolve, reject),
      });
      if (sending < maxQueries) void send();
      return found;
    },
  };
}
