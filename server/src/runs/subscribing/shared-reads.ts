import type { EventOnWire } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import { readSomeEvents } from "../journal/index.ts";
import type { RunRef } from "../run.ts";

/**
 * Reads of journals for streams, some events at a time. All who wait for one run are woken in the same moment and ask for the same: one query
 * answers them, and they share what it finds. Whoever asks after it was sent gets a query of their own, since the first may be older than what
 * they were told of.
 */
export interface SharedReads {
  read(run: RunRef, after: number): Promise<readonly EventOnWire[]>;
}

/** Queries at once. Runs are written over the same connections, and do not wait behind hundreds of readers who catch up. */
const maxQueries = 4;

export function createSharedReads(database: Database): SharedReads {
  const unsent = new Map<
    string,
    { readonly found: Promise<readonly EventOnWire[]>; readonly send: () => Promise<void> }
  >();
  let sending = 0;

  async function send(): Promise<void> {
    sending++;
    // All who are woken in this moment have asked by then.
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
      const asked = unsent.get(key);
      if (asked !== undefined) return asked.found;
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
