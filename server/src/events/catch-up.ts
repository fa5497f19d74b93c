import { ByteBudget } from "../base/byte-budget.ts";
import type { Database } from "../base/database/index.ts";
import type { Position } from "./position.ts";
import { type EventBatch, type EventSources, readEventBatch } from "./store.ts";

/**
 * Reads a batch of a workspace's events for a subscriber that is behind the event poller. Resolves
 * to undefined if `signal` aborts before the query is sent.
 */
export type CatchUp = (
  workspaceId: string,
  options: {
    readonly after: Position;
    readonly upTo: Position;
    readonly limit: number;
    readonly sources: EventSources | undefined;
    readonly signal: AbortSignal;
  },
) => Promise<EventBatch | undefined>;

/**
 * Maximum number of queries at a time; one workspace gets half of them. It keeps connections free
 * for writes even if hundreds of streams are opened with old cursors.
 */
const maxQueries = 4;

/**
 * A stream holds a batch until its client has read it, so the batches of many streams must be
 * small.
 */
const maxCharacters = 64 * 1024;

/** Creates the function with which all subscribers of this process catch up. */
export function createCatchUp(database: Database): CatchUp {
  // The budget counts each query as one byte.
  const turns = new ByteBudget({ maxBytes: maxQueries, shareMax: 0.5 });
  return async (workspaceId, { sources, signal, ...batch }) => {
    const turn = turns.hold(workspaceId);
    try {
      await turn.enter(1, signal);
    } catch (thrown) {
      turn.release();
      if (signal.aborted) return undefined;
      throw thrown;
    }
    try {
      return await readEventBatch(database.engine, [workspaceId], {
        ...batch,
        ...sources,
        maxCharacters,
      });
    } finally {
      turn.release();
    }
  };
}
