import type { EventOnWire } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { readSomeEvents } from "./journal-store.ts";
import type { RunRef } from "./run.ts";

/**
 * Reads of journals for streams, some events at a time. All who wait for one run are woken in the same moment and ask for the same: one query answers them, and they share what
 * it finds. Whoever asks after it was sent gets a query of their own, since the first may be older than what they were told of.
 */
export interface SharedReads {
  read(run: RunRef, after: number): Promise<readonly EventOnWire[]>;
}

export function shareReads(database: Database): SharedReads {
  const unsent = new Map<string, Promise<readonly EventOnWire[]>>();
  return {
    read(run, after) {
      const key = `${run.workspaceId} ${run.runId} ${after}`;
      const shared = unsent.get(key);
      if (shared !== undefined) return shared;
      const reading = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        unsent.delete(key);
        return readSomeEvents(database, run, after);
      });
      unsent.set(key, reading);
      return reading;
    },
  };
}
